import { type JSONPath, visit } from "jsonc-parser";
import { listProblems, type Problem, pointerOf, problemAt, type TextCode } from "./texts.ts";

export function isNestedBeyond(
	text: string,
	levels: number,
	maxContainers = Number.POSITIVE_INFINITY,
): boolean {
	let depth = 0;
	let containers = 0;
	let inString = false;
	for (let index = 0; index < text.length; index += 1) {
		const character = text[index];
		if (inString) {
			if (character === "\\") index += 1;
			else if (character === '"') inString = false;
		} else if (character === '"') inString = true;
		else if (character === "{" || character === "[") {
			depth += 1;
			containers += 1;
		} else if (character === "}" || character === "]") depth -= 1;
		if (depth > levels || containers > maxContainers) return true;
	}
	return false;
}

export const maxDepth = 64;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Strict UTF-8 JSON (RFC 8259): no byte order mark, repeated name, lone surrogate or nesting beyond 64, which
 * two parsers of one signed text could read differently. Null with problems.
 */
export function parseJson(bytes: Uint8Array): { value: unknown; problems: Problem[] } {
	const refuse = (...problems: Problem[]) => ({ value: null, problems });
	let text: string;
	try {
		text = decoder.decode(bytes);
	} catch {
		return refuse(problemAt("document", "utf-8"));
	}
	if (text.startsWith("\ufeff")) return refuse(problemAt("document", "byte-order-mark"));
	if (isNestedBeyond(text, maxDepth)) return refuse(problemAt("document", "depth", maxDepth));
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return refuse(syntaxError(text));
	}
	const problems = ambiguities(text);
	return problems.length === 0 ? { value, problems } : refuse(...problems);
}

export const strictly = { disallowComments: true };

/** With line and column, both from 1. */
function syntaxError(text: string): Problem {
	if (text.trim() === "") return problemAt("document", "minLength");
	let place = text.length;
	const onError = (_error: number, offset: number) => {
		place = Math.min(place, offset);
	};
	visit(text, { onError }, strictly);
	const lines = text.slice(0, place).split(/\r\n|\r|\n/);
	return problemAt("document", "json", lines.length, (lines.at(-1) as string).length + 1);
}

function ambiguities(text: string): Problem[] {
	const problems: Problem[] = [];
	const add = (path: JSONPath, code: TextCode) => problems.push(problemAt(pointerOf(path), code));
	const scopes: Set<string>[] = [];
	visit(text, {
		onObjectBegin: () => void scopes.push(new Set()),
		onObjectEnd: () => void scopes.pop(),
		onObjectProperty: (name, _offset, _length, _line, _column, path) => {
			if (scopes.at(-1)?.has(name)) add([...path(), name], "repeated-name");
			scopes.at(-1)?.add(name);
			if (!name.isWellFormed()) add(path(), "lone-surrogate");
		},
		onLiteralValue: (value, _offset, _length, _line, _column, path) => {
			if (typeof value === "string" && !value.isWellFormed()) add(path(), "lone-surrogate");
		},
	});
	return listProblems(problems);
}
