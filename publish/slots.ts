import { createHash } from "node:crypto";
import { codeStamp } from "../files/code-stamp.ts";
import { defaultMapWkid } from "../registry/extent.ts";
import { type Lang, langs } from "../registry/smallkey.ts";
import { type FragmentSettings, mapServerTypes } from "../registry/targets/facts.ts";
import { targetNames, targetOf, targetPath } from "../registry/targets/table.ts";
import type { TargetName } from "../registry/targets/target.ts";

/** The settings that decide how layers are rendered, with all defaults: a plain object that other processes can get. */
export function fragmentSettings(settings: FragmentSettings): Required<FragmentSettings> {
	const { metadataUrl, catalogueUrl, mapWkid, mapServerType, targets } = settings;
	return {
		metadataUrl,
		catalogueUrl,
		mapWkid: mapWkid ?? defaultMapWkid,
		mapServerType: mapServerType ?? mapServerTypes[0],
		targets: targets ?? targetNames,
	};
}

/** A hash of everything that decides how a registration is rendered: the code and the settings. */
export function rendererStamp(settings: FragmentSettings): string {
	const text = codeStamp() + JSON.stringify(fragmentSettings(settings));
	return createHash("sha256").update(text).digest("hex");
}

/** One of the forms in which each layer is read: a target in one language. */
export interface Slot {
	target: TargetName;
	lang: Lang;
}

/** The forms in which each layer is read, in the order of its fragments in memory. */
export function slotsOf({ targets = targetNames }: Pick<FragmentSettings, "targets">): readonly Slot[] {
	return targets.flatMap((target) => langs.map((lang) => ({ target, lang })));
}

/** The path of a fragment below an output folder: `v0.9/doc/en/23ax5t`. */
export function slotPath({ target, lang }: Slot, smallkey: string): string {
	return targetPath(target, lang, smallkey);
}

/** The folder of the fragments of a slot below an output folder: `v0.9/doc/en`. */
export function slotFolder({ target, lang }: Slot): string {
	return `${targetOf(target).doc}/${lang}`;
}

/** The folders, below an output folder, of targets that have no slot: files in them would be outdated. */
export function otherFolders(slots: readonly Slot[]): string[] {
	const others = targetNames.filter((name) => !slots.some(({ target }) => target === name));
	return others.map((name) => targetOf(name).doc);
}
