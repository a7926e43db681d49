import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { Problems, pointerOf } from "./problems.ts";
import { type BrokenRule, broken, type TextCode, textOf } from "./texts.ts";

/** A parsed JSON text: its value, or why it was refused. */
export type ParsedJson = { value: unknown; problems: [] } | { value: null; problems: BrokenRule[] };

/** Most levels of a document; a registration needs five. This bounds the recursion of all code that walks a value. */
const maxDepth = 64;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses UTF-8 JSON strictly (RFC 8259): no byte order mark, no repeated member name, no lone surrogate, no nesting
 * deeper than 64. Two parsers could read such a text differently, and the text may be signed.
 */
export function parseJson(bytes: Uint8Array): ParsedJson {
	let text: string;
	try {
		text = decoder.decode(bytes);
	} catch {
		return refused(broken("utf-8"));
	}
	if (text.startsWith("\ufeff")) return refused(broken("byte-order-mark"));
	if (isNestedBeyond(text, maxDepth)) return refused(broken("depth", maxDepth));
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return refused(syntaxError(text));
	}
	const problems = isPlainlyWritten(text, value) ? [] : ambiguities(text);
	return problems.length === 0 ? { value, problems: [] } : { value: null, problems };
}

function refused(problem: BrokenRule): ParsedJson {
	return { value: null, problems: [problem] };
}

/**
 * Whether a text equals the output of `JSON.stringify`, on one line as clients send it or indented as files are stored.
 * Such a text repeats no name, and has no lone surrogate unless it has a `\u` escape. This check takes a tenth of the time
 * of a walk over the tokens.
 */
function isPlainlyWritten(text: string, value: unknown): boolean {
	if (text.includes("\\u")) return false;
	const isIndented = text.endsWith("\n");
	return text === (isIndented ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value));
}

/** Whether a JSON text has more than `levels` levels or `maxContainers` objects and lists. Counts brackets outside strings. */
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

const strictly = { disallowComments: true };

/** The first syntax error of a text: `the document must be JSON: line 3, column 7 must be a comma`. */
function syntaxError(text: string): BrokenRule {
	const errors: ParseError[] = [];
	parseTree(text, errors, strictly);
	const [first] = errors;
	if (!first) return broken("json-unknown");
	const lines = text.slice(0, first.offset).split(/\r\n?|\n/);
	const column = (lines.at(-1) as string).length + 1;
	return broken("json", lines.length, column, textOf(printParseErrorCode(first.error) as TextCode));
}

type Path = readonly (string | number)[];

/** The values and the members of a valid text, in the text's order, each with its path. */
function* nodesOf(node: Node | undefined, path: Path = []): Generator<[Node, Path]> {
	if (!node) return;
	yield [node, path];
	for (const [index, child] of (node.children ?? []).entries()) {
		if (node.type === "array") yield* nodesOf(child, [...path, index]);
		else if (node.type === "object") yield* nodesOf(child, [...path, nameOf(child)]);
		else if (index === 1) yield* nodesOf(child, path);
	}
}

function nameOf(property: Node): string {
	return String(property.children?.[0]?.value);
}

/** Repeated names and lone surrogates of a valid text. */
function ambiguities(text: string): BrokenRule[] {
	const problems = new Problems();
	const names = new Map<unknown, Set<string>>();
	for (const [node, path] of nodesOf(parseTree(text))) {
		if (node.type === "object") names.set(node, new Set());
		else if (node.type === "property") {
			const known = names.get(node.parent) as Set<string>;
			const name = nameOf(node);
			if (known.has(name)) problems.add(() => [pointerOf(path), broken("repeated-name")]);
			known.add(name);
			if (!name.isWellFormed()) problems.add(() => [pointerOf(path.slice(0, -1)), broken("lone-name")]);
		} else if (node.type === "string" && !node.value.isWellFormed())
			problems.add(() => [pointerOf(path), broken("lone-surrogate")]);
	}
	return problems.list();
}

/**
 * JSON pointer → the line (from 1) on which that member or element starts; a member starts with its name. Empty where
 * the text is not JSON or is nested too deeply.
 */
export function linesOf(text: string): Map<string, number> {
	const lines = new Map<string, number>();
	const errors: ParseError[] = [];
	const tree = isNestedBeyond(text, maxDepth) ? undefined : parseTree(text, errors, strictly);
	if (errors.length > 0) return lines;
	let line = 1;
	let start = 0;
	for (const [{ offset }, path] of nodesOf(tree)) {
		line += text.slice(start, offset).match(/\r\n?|\n/g)?.length ?? 0;
		start = offset;
		const pointer = pointerOf(path);
		if (!lines.has(pointer)) lines.set(pointer, line);
	}
	return lines;
}

/** The line of a JSON pointer, or of its nearest known ancestor; 1 without one. */
export function lineAt(lines: ReadonlyMap<string, number>, pointer: string): number {
	for (let place = pointer; ; place = place.slice(0, place.lastIndexOf("/"))) {
		const line = lines.get(place);
		if (line !== undefined || place === "") return line ?? 1;
	}
}
