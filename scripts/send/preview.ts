import { Variables } from "../../api/configuration.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { draftAddress } from "../../registry/draft.ts";
import type { Environment, Io } from "../../registry/environment.ts";
import { judgeChange } from "../../registry/judge.ts";
import { plain } from "../../registry/plain.ts";
import { textsOf } from "../../registry/problems.ts";
import { langs, layerPath, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { renderLayer, targetPath } from "../../registry/targets/table.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { exitCodes } from "../terminal/command-line.ts";

/**
 * Prints the problems and warnings of a registration, and its fragments as viewers read them before the first harvest.
 * @param layer its smallkey, and the path (for the messages) and bytes of the registration
 * @returns exit code: 1 if the registration is wrong
 */
export function printPreview(
	{ smallkey, file, body }: { smallkey: string; file: string; body: Uint8Array },
	configuration: Configuration,
	io: Io,
): number {
	// With an impossible smallkey, the document is judged under another one: all problems are printed at once.
	const name = parseSmallkey(smallkey) ?? "any";
	const edit = { path: layerPath(name), kind: "file", bytes: body } as const;
	const { layers, problems } = judgeChange(null, [edit], "anyone");
	const registration = layers.get(name)?.registration;
	const wrong = textsOf(problems).map((line) => `${file}: ${line}`);
	if (name !== smallkey) wrong.unshift(`${smallkey}: a smallkey ${smallkeyRule}`);
	for (const line of wrong) io.warn(plain(line));
	if (!registration || wrong.length > 0) return exitCodes.wrong;
	for (const warning of textsOf(warningsOf(registration))) io.warn(plain(`warning: ${file}: ${warning}`));
	for (const lang of langs) {
		const texts = renderLayer(configuration.targets, lang, smallkey, registration, null, configuration);
		for (const [index, target] of configuration.targets.entries()) {
			const text = texts[index] ?? null;
			io.print(`/${targetPath(target, lang, smallkey)}`);
			const shown = text && JSON.stringify(JSON.parse(text), null, 2);
			io.print(shown ?? "(cannot be expressed there)");
		}
	}
	return exitCodes.done;
}

/**
 * Prints the address at which the catalogue shows a refused registration as a draft, with its problems. It prints nothing
 * if `PUBLIC_URL` is not set, or the registration is too long for an address.
 */
export async function printDraft(
	{ smallkey, body }: { smallkey: string; body: Uint8Array },
	environment: Environment,
	io: Io,
): Promise<void> {
	const variables = new Variables(environment);
	const publicUrl = variables.address("PUBLIC_URL");
	variables.check();
	const address = await draftAddress(publicUrl, { smallkey, text: new TextDecoder().decode(body) });
	if (address !== null) io.warn(`Try it as a draft: ${address}`);
}
