import { parseRegistration } from "../registry/registration.ts";
import { langs, parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { renderLayer } from "../registry/targets/render.ts";
import { targetPath } from "../registry/targets/table.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Configuration } from "../service/settings.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

/** A registration that would be sent. */
export interface Draft {
	smallkey: string;
	/** Where its text is from, for the messages. */
	file: string;
	body: Uint8Array;
}

/**
 * Prints what a service would say of a registration, and the fragments as a viewer would read them before its services
 * are harvested.
 * @returns exit code: 1 where the registration is wrong
 */
export function printPreview({ smallkey, file, body }: Draft, configuration: Configuration, io: Io): number {
	const { registration, problems } = parseRegistration(body, "written");
	const wrong = problems.map((problem) => `${file}: ${problem}`);
	if (parseSmallkey(smallkey) === null) wrong.unshift(`${smallkey}: a smallkey ${smallkeyRule}`);
	for (const line of wrong) printError(io, plain(line));
	if (!registration || wrong.length > 0) return exitCodes.wrong;
	for (const warning of warningsOf(registration)) printError(io, plain(`warning: ${file}: ${warning}`));
	for (const lang of langs) {
		const texts = renderLayer(configuration.targets, lang, smallkey, registration, null, configuration);
		for (const [index, target] of configuration.targets.entries()) {
			const text = texts[index] ?? null;
			printLine(io, `/${targetPath(target, lang, smallkey)}`);
			printLine(io, text === null ? "(cannot be expressed there)" : indented(text));
		}
	}
	return exitCodes.done;
}

function indented(json: string): string {
	return JSON.stringify(JSON.parse(json), null, 2);
}
