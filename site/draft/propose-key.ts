import { judgeKey } from "../../registry/key-rules.ts";
import { type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { textIn, textOf } from "../../registry/texts.ts";
import { fold, isStopWord } from "../search/words.ts";

const maxWords = 3;
const maxLength = 32;

const maxTries = 20;

/**
 * A free smallkey of the first words of a title; null if none is free.
 * @param patterns globs of the smallkeys that the sender may use; empty: all
 */
export async function proposeKey(
	title: string,
	patterns: readonly string[],
	isTaken: (smallkey: string) => Promise<boolean>,
): Promise<string | null> {
	const words = fold(title).match(/[a-z0-9]+/g) ?? [];
	const meaningful = words.filter((word) => !isStopWord(word)).slice(0, maxWords);
	const name = (meaningful.length > 0 ? meaningful.join("-") : "layer").slice(0, maxLength).replace(/-$/, "");
	const globs = patterns.length > 0 ? patterns : ["*"];
	for (const glob of globs) {
		for (let number = 1; number <= maxTries; number += 1) {
			const text = number === 1 ? name : `${name}-${number}`;
			// Only the first star is filled: the others may stand for nothing.
			const filled = glob.replace("*", text).replaceAll("*", "").replaceAll("?", "0");
			const smallkey = parseSmallkey(filled);
			const isAllowed = smallkey !== null && newKeyProblem(smallkey, "en") === null;
			if (isAllowed && !(await isTaken(smallkey))) return smallkey;
			if (!glob.includes("*")) break;
		}
	}
	return null;
}

/** The rule for new smallkeys that one breaks, as a text; null if it breaks none. */
export function newKeyProblem(smallkey: string, lang: Lang): string | null {
	const rule = judgeKey(smallkey, smallkey, null, () => false);
	return rule && textIn(lang, textOf(...rule));
}

/** The globs in a refusal with the code `owner`, in either language; empty for another refusal. */
export function allowedIn(errors: readonly { text: string }[]): string[] {
	const listed = errors.flatMap(
		({ text }) => / keys only: ([^;]+); not | que ces clés\s: ([^;]+); pas /.exec(text) ?? [],
	);
	const [, en, fr] = listed;
	const globs = (en ?? fr ?? "none").split(" ");
	return globs.filter((glob) => glob !== "none");
}
