import { type ParseErrorCode, printParseErrorCode, visit } from "jsonc-parser";
import { type DocumentProblem, Problems, pointerOf } from "./problems.ts";
import { type BrokenRule, broken, type TextCode, textOf } from "./texts.ts";

/** A parsed JSON text: its value, or why it was refused. */
export type ParsedJson = { value: unknown; problems: [] } | { value: null; problems: DocumentProblem[] };

/** Deepest nesting that is read; a registration needs five. It bounds the recursion of all code that walks a value. */
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
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return refused(syntaxError(text));
	}
	if (isPlainlyWritten(text, value)) return { value, problems: [] };
	const problems = ambiguities(text);
	if (problems === null) return refused(broken("depth", maxDepth));
	return problems.length === 0 ? { value, problems: [] } : { value: null, problems };
}

function refused(problem: BrokenRule): ParsedJson {
	return { value: null, problems: [problem] };
}

/**
 * Whether a text equals the output of `JSON.stringify`, on one line as clients send it or indented as files are stored:
 * then it repeats no name. The check takes a tenth of the time of a walk over the tokens. A `\u` escape may be a lone
 * surrogate.
 */
function isPlainlyWritten(text: string, value: unknown): boolean {
	if (text.includes("\\u") || isDeeperThan(maxDepth, value)) return false;
	const isIndented = text.endsWith("\n");
	return text === (isIndented ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value));
}

function isDeeperThan(levels: number, value: unknown): boolean {
	if (typeof value !== "object" || value === null) return false;
	if (levels === 0) return true;
	// `for in` allocates no list of the members: this runs for every layer of a build.
	for (const name in value) {
		if (isDeeperThan(levels - 1, (value as Record<string, unknown>)[name])) return true;
	}
	return false;
}

/** Ends a visit early; jsonc-parser has no other way. */
class EndOfVisit extends Error {}

/** Callbacks of `walk`. */
interface Visitor {
	/** A member's name; `path` is that of its object. */
	onName?(name: string, line: number, path: () => (string | number)[]): void;
	/** The start of a value, with its own path. */
	onValue?(value: unknown, line: number, path: () => (string | number)[]): void;
	onObject?(): void;
	onObjectEnd?(): void;
	onError?(code: ParseErrorCode, line: number, column: number): void;
}

/**
 * Visits the tokens of a JSON text in order; lines and columns start at 1.
 * @returns false where the visitor or nesting deeper than 64 ended the visit
 */
function walk(text: string, visitor: Visitor): boolean {
	let depth = 0;
	const enter = (line: number, column: number, path: () => (string | number)[]) => {
		depth += 1;
		// The library recurses: a text of brackets would overflow the stack.
		if (depth > maxDepth) {
			visitor.onError?.(tooDeep, line + 1, column + 1);
			throw new EndOfVisit();
		}
		visitor.onValue?.(null, line + 1, path);
	};
	try {
		visit(
			text,
			{
				onObjectBegin: (_offset, _length, line, column, path) => {
					enter(line, column, path);
					visitor.onObject?.();
				},
				onArrayBegin: (_offset, _length, line, column, path) => enter(line, column, path),
				onObjectEnd: () => {
					depth -= 1;
					visitor.onObjectEnd?.();
				},
				onArrayEnd: () => {
					depth -= 1;
				},
				onObjectProperty: (name, _offset, _length, line, _column, path) =>
					visitor.onName?.(name, line + 1, path),
				onLiteralValue: (value, _offset, _length, line, _column, path) =>
					visitor.onValue?.(value, line + 1, path),
				onError: (code, _offset, _length, line, column) => visitor.onError?.(code, line + 1, column + 1),
			},
			{ disallowComments: true },
		);
		return true;
	} catch (error) {
		if (error instanceof EndOfVisit) return false;
		throw error;
	}
}

/** An error code that the library does not use. */
const tooDeep = -1 as ParseErrorCode;

/** The first syntax error of a text: `the document must be JSON: line 3, column 7 must be a comma`. */
function syntaxError(text: string): BrokenRule {
	let found = broken("json-unknown");
	walk(text, {
		onError(code, line, column) {
			const name = code === tooDeep ? "nested" : (printParseErrorCode(code) as TextCode);
			found = broken("json", line, column, textOf(name, maxDepth));
			throw new EndOfVisit();
		},
	});
	return found;
}

/** Repeated names and lone surrogates of a syntactically valid text; null where it is nested too deep. */
function ambiguities(text: string): DocumentProblem[] | null {
	const problems = new Problems();
	const objects: Set<string>[] = [];
	const whole = walk(text, {
		onObject: () => objects.push(new Set()),
		onObjectEnd: () => objects.pop(),
		onName(name, _line, path) {
			const names = objects.at(-1) as Set<string>;
			if (names.has(name)) problems.add(() => [pointerOf([...path(), name]), broken("repeated-name")]);
			names.add(name);
			if (name.isWellFormed()) return;
			problems.add(() => [pointerOf(path()), broken("lone-name")]);
		},
		onValue(value, _line, path) {
			if (typeof value !== "string" || value.isWellFormed()) return;
			problems.add(() => [pointerOf(path()), broken("lone-surrogate")]);
		},
	});
	return whole ? problems.list() : null;
}

/**
 * JSON pointer → the line (from 1) on which that member or element starts; a member starts with its name. Empty where
 * the text is not JSON, or nested too deep.
 */
export function linesOf(text: string): Map<string, number> {
	const lines = new Map<string, number>();
	const note = (path: (string | number)[], line: number) => {
		const pointer = pointerOf(path);
		if (!lines.has(pointer)) lines.set(pointer, line);
	};
	let isJson = true;
	const whole = walk(text, {
		onName: (name, line, path) => note([...path(), name], line),
		onValue: (_value, line, path) => note(path(), line),
		onError: () => {
			isJson = false;
		},
	});
	return whole && isJson ? lines : new Map();
}

/** The line of a JSON pointer, or of its nearest known ancestor; 1 without one. */
export function lineAt(lines: ReadonlyMap<string, number>, pointer: string): number {
	for (let place = pointer; ; place = place.slice(0, place.lastIndexOf("/"))) {
		const line = lines.get(place);
		if (line !== undefined || place === "") return line ?? 1;
	}
}
