/** A text that was read as JSON: its value, or every reason why it was refused. */
export type Parsed = { value: unknown; problems: [] } | { value: null; problems: string[] };

/** Deepest nesting that is read; a registration needs three. It bounds the stack of whatever walks the value. */
const deepest = 64;

/** What matters for nesting and member names in a text that JSON.parse has accepted: strings and punctuation. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/gs;

/** One member or element met while scanning: its JSON pointer (RFC 6901) and where its text starts. */
export interface Place {
	pointer: string;
	offset: number;
}

/** Escapes one member name for a JSON pointer (RFC 6901, section 3). */
export function pointerSegment(name: string): string {
	return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * Walks the member names and elements of a JSON text that is known to be well formed, with its repeats.
 * @returns the places in the order of the text; `repeated` marks a name that its object has had before.
 */
export function* places(text: string): Generator<Place & { repeated: boolean }> {
	const stack: { names: Set<string> | null; pointer: string; index: number; child: string }[] = [];
	let last: { text: string; offset: number } | null = null;
	for (const match of text.matchAll(tokens)) {
		const token = match[0];
		const top = stack.at(-1);
		if (token === "{" || token === "[") {
			const pointer = top ? top.child : "";
			const names = token === "{" ? new Set<string>() : null;
			stack.push({ names, pointer, index: 0, child: `${pointer}/0` });
			yield { pointer, offset: match.index, repeated: false };
		} else if (token === "}" || token === "]") {
			stack.pop();
		} else if (token === ":" && top?.names && last) {
			const name = JSON.parse(last.text) as string;
			top.child = `${top.pointer}/${pointerSegment(name)}`;
			yield {
				pointer: top.child,
				offset: last.offset,
				repeated: top.names.has(name),
			};
			top.names.add(name);
		} else if (token === "," && top && !top.names) {
			top.index += 1;
			top.child = `${top.pointer}/${top.index}`;
		} else if (token[0] === '"') {
			last = { text: token, offset: match.index };
		}
	}
}

/** Line (from 1) at which the member or element of a JSON pointer starts in a JSON text; 1 where it is not there. */
export function lineOf(text: string, pointer: string): number {
	let offset = 0;
	for (const place of places(text)) {
		if (place.pointer === pointer || pointer.startsWith(`${place.pointer}/`)) offset = place.offset;
	}
	return text.slice(0, offset).split("\n").length;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads UTF-8 JSON strictly (RFC 8259): no byte order mark, no repeated member name, no lone surrogate, nothing
 * nested deeper than 64. Two readers could understand such a text differently, and it may be a signed one.
 */
export function parseJson(bytes: Uint8Array): Parsed {
	let text: string;
	try {
		text = decoder.decode(bytes);
	} catch {
		return refused("must be UTF-8");
	}
	if (text.startsWith("\ufeff")) return refused("must not start with a byte order mark");
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (error) {
		return refused(`must be JSON: ${(error as Error).message}`);
	}
	const { depth, names } = measure(text);
	if (depth > deepest) return refused(`must not be nested deeper than ${deepest}`);
	const problems = names === countMembers(value) ? [] : repeatedNames(text);
	// Decoded UTF-8 has none: only an escape can name one.
	if (text.includes("\\u")) findLoneSurrogates(value, "", problems);
	return problems.length === 0 ? { value, problems: [] } : { value: null, problems };
}

/** Deepest nesting and number of member names of a well-formed JSON text. */
function measure(text: string): { depth: number; names: number } {
	let depth = 0;
	let most = 0;
	let names = 0;
	for (let index = 0; index < text.length; index += 1) {
		const code = text.charCodeAt(index);
		if (code === 0x22) index = endOfString(text, index);
		else if (code === 0x3a) names += 1;
		else if (code === 0x7b || code === 0x5b) most = Math.max(most, ++depth);
		else if (code === 0x7d || code === 0x5d) depth -= 1;
	}
	return { depth: most, names };
}

/** Index of the quote that ends the string which starts at `start`. */
function endOfString(text: string, start: number): number {
	for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
		let backslashes = 0;
		while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes += 1;
		if (backslashes % 2 === 0) return end;
	}
}

/** Number of members in all objects of a value. */
function countMembers(value: unknown): number {
	if (typeof value !== "object" || value === null) return 0;
	const members = Object.values(value);
	let count = Array.isArray(value) ? 0 : members.length;
	for (const member of members) count += countMembers(member);
	return count;
}

function repeatedNames(text: string): string[] {
	const repeated = [...places(text)].filter((place) => place.repeated);
	return repeated.map((place) => `${place.pointer}: stands there more than once`);
}

function refused(rule: string): Parsed {
	return { value: null, problems: [`the document ${rule}`] };
}

function findLoneSurrogates(value: unknown, pointer: string, problems: string[]): void {
	if (typeof value === "string" && !value.isWellFormed()) {
		problems.push(`${pointer || "the document"}: must not hold a lone surrogate`);
	}
	if (typeof value !== "object" || value === null) return;
	for (const [name, member] of Object.entries(value)) {
		if (!name.isWellFormed()) problems.push(`${pointer}: must not have a name with a lone surrogate`);
		findLoneSurrogates(member, `${pointer}/${pointerSegment(name.toWellFormed())}`, problems);
	}
}
