import { html, nothing, type TemplateResult } from "lit-html";
import type { Lang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { type Drawable, parseFragment, withMetadata } from "../map/drawable.ts";
import { readFile, settings } from "./page.ts";
import { t } from "./texts.ts";

/** Targets whose fragments say how a layer is drawn, the most detailed first. */
const drawnTargets: readonly TargetName[] = ["v0.9", "v1", "v2"];

/** Path of a fragment. It does not use the table of targets, which would add all renderers to the first load. */
export function docPath(target: TargetName, lang: Lang, smallkey: string): string {
	const folder = target === "ramp4" ? target : `${target}/doc`;
	return `${folder}/${lang}/${encodeURIComponent(smallkey)}`;
}

/** Reads how a layer is drawn in one language; null if no fragment says it. @param failed called if a file cannot be read */
export async function readDrawable(
	smallkey: string,
	lang: Lang,
	signal: AbortSignal,
	failed: (error: unknown) => null,
): Promise<Drawable | null> {
	const read = async (target: TargetName): Promise<Drawable | null> => {
		const text = await readFile(docPath(target, lang, smallkey), "revalidated", signal).catch(failed);
		return text === null ? null : parseFragment(target, text);
	};
	const v2 = settings.targets.includes("v2") ? read("v2") : null;
	for (const target of drawnTargets.filter((one) => settings.targets.includes(one))) {
		const drawable = await (target === "v2" ? v2 : read(target));
		if (drawable) return withMetadata(drawable, await v2);
	}
	return null;
}

/**
 * A button that checks the service of a layer now, from this browser.
 * @param name title of the layer, added to the button's label for screen readers; empty for none
 * @param readOne reads how the layer is drawn; null if unknown
 */
export function lookButton(
	name: string,
	signal: AbortSignal,
	readOne: () => Promise<Drawable | null>,
): TemplateResult {
	const look = async ({ currentTarget }: Event) => {
		const answer = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		answer.textContent = t("Asking the service…");
		const [{ lookNow }, drawable] = await Promise.all([import("../map/look-now.ts"), readOne()]);
		answer.textContent = drawable
			? await lookNow(drawable, signal)
			: t("What viewers read of this layer could not be read, so there is nothing to draw.");
	};
	const called = name === "" ? nothing : `${t("Check now")}${t(":")} ${name}`;
	return html`<p>
		<button class="small" aria-label=${called} @click=${look}>${t("Check now")}</button>
		<span role="status" class="hint"></span>
	</p>`;
}
