/** The contexts of an expression: `github`, `needs`, `steps`, `matrix`, … */
export type Contexts = Record<string, unknown>;

/** Functions by their name in lower case: what a job or a step knows of those before it. */
export type Functions = Record<string, (...args: unknown[]) => unknown>;

const tokens =
	/\s*(?:(?<string>'(?:[^']|'')*')|(?<number>-?\d+(?:\.\d+)?)|(?<word>[A-Za-z_][\w-]*)|(?<sign>&&|\|\||[=!<>]=|[!<>()[\].,*]))/gy;

const common: Functions = {
	fromjson: (text) => JSON.parse(String(text)),
	join: (list, separator = ",") => (list as unknown[]).map(textOf).join(String(separator)),
	startswith: (text, start) => textOf(text).toLowerCase().startsWith(textOf(start).toLowerCase()),
	contains: (all, part) =>
		Array.isArray(all) ? all.includes(part) : textOf(all).toLowerCase().includes(textOf(part).toLowerCase()),
};

/**
 * The value of an expression of GitHub Actions, without the `${{ }}` around it.
 * @throws {Error} for what GitHub would refuse, and for functions that the workflows do not use
 */
export function evaluate(source: string, contexts: Contexts, functions: Functions = {}): unknown {
	const found: { kind: string; text: string }[] = [];
	tokens.lastIndex = 0;
	while (source.slice(tokens.lastIndex).trim() !== "") {
		const groups = tokens.exec(source)?.groups;
		if (!groups) throw new Error(`${source}: is no expression`);
		const [kind = "", text = ""] = Object.entries(groups).find(([, text]) => text !== undefined) ?? [];
		found.push({ kind, text });
	}
	let next = 0;
	const isNext = (sign: string) => found[next]?.kind === "sign" && found[next]?.text === sign;
	const accept = (sign: string) => isNext(sign) && ++next > 0;
	const expect = (sign: string) => {
		if (!accept(sign)) throw new Error(`${source}: ${sign} is missing`);
	};

	function either(): unknown {
		let value = both();
		while (accept("||")) value = pick(value, both(), isTrue(value));
		return value;
	}

	function both(): unknown {
		let value = compared();
		while (accept("&&")) value = pick(value, compared(), !isTrue(value));
		return value;
	}

	function compared(): unknown {
		const value = negated();
		for (const [sign, compare] of comparisons) if (accept(sign)) return compare(value, negated());
		return value;
	}

	function negated(): unknown {
		return accept("!") ? !isTrue(negated()) : member(primary());
	}

	function primary(): unknown {
		if (accept("(")) {
			const value = either();
			expect(")");
			return value;
		}
		const { kind, text = "" } = found[next++] ?? { kind: "end" };
		if (kind === "string") return text.slice(1, -1).replaceAll("''", "'");
		if (kind === "number") return Number(text);
		if (kind !== "word") throw new Error(`${source}: has no value where one is needed`);
		if (text in constants) return constants[text];
		if (accept("(")) return call(text.toLowerCase());
		if (!(text in contexts)) throw new Error(`${source}: there is no context ${text} here`);
		return contexts[text];
	}

	function call(name: string): unknown {
		const args: unknown[] = [];
		while (!isNext(")")) {
			args.push(either());
			if (!accept(",")) break;
		}
		expect(")");
		const called = functions[name] ?? common[name];
		if (!called) throw new Error(`${source}: there is no function ${name} here`);
		return called(...args);
	}

	function member(start: unknown): unknown {
		let value = start;
		for (;;) {
			if (accept("[")) {
				value = memberOf(value, either());
				expect("]");
			} else if (!accept(".")) return value;
			// `needs.*.result`: of each member its own.
			else if (accept("*")) {
				const all = Object.values((value ?? {}) as object);
				if (!accept(".")) return all;
				const name = found[next++]?.text;
				value = all.map((one) => memberOf(one, name));
			} else value = memberOf(value, found[next++]?.text);
		}
	}

	const value = either();
	if (next < found.length) throw new Error(`${source}: ends before ${found[next]?.text}`);
	return value;
}

const constants: Record<string, unknown> = { null: null, true: true, false: false };

const pick = (value: unknown, other: unknown, isFirst: boolean) => (isFirst ? value : other);

const comparisons: [string, (a: unknown, b: unknown) => boolean][] = [
	["==", isEqual],
	["!=", (a, b) => !isEqual(a, b)],
	["<=", (a, b) => numberOf(a) <= numberOf(b)],
	[">=", (a, b) => numberOf(a) >= numberOf(b)],
	["<", (a, b) => numberOf(a) < numberOf(b)],
	[">", (a, b) => numberOf(a) > numberOf(b)],
];

/** Names are compared without regard to case; what is missing is null. */
function memberOf(value: unknown, name: unknown): unknown {
	if (typeof value !== "object" || value === null) return null;
	if (Array.isArray(value)) return value[Number(name)] ?? null;
	const key = Object.keys(value).find((one) => one.toLowerCase() === String(name).toLowerCase());
	return key === undefined ? null : (value as Record<string, unknown>)[key];
}

/** Texts are equal without regard to case; values of two kinds are compared as numbers (GitHub, "Evaluate expressions"). */
function isEqual(a: unknown, b: unknown): boolean {
	if (typeof a === "string" && typeof b === "string") return a.toLowerCase() === b.toLowerCase();
	return typeof a === typeof b && typeof a !== "object" ? a === b : a === b || numberOf(a) === numberOf(b);
}

function numberOf(value: unknown): number {
	if (typeof value === "object" && value !== null) return Number.NaN;
	return typeof value === "string" && value.trim() === "" ? 0 : Number(value);
}

export function isTrue(value: unknown): boolean {
	return typeof value === "number" ? value !== 0 && !Number.isNaN(value) : Boolean(value);
}

export function textOf(value: unknown): string {
	if (value === null || value === undefined) return "";
	if (typeof value === "object") return Array.isArray(value) ? "Array" : "Object";
	return String(value);
}

/** A text of a workflow with the values of its expressions. A text that is one expression has that value, of any kind. */
export function filled(text: unknown, contexts: Contexts, functions?: Functions): unknown {
	if (typeof text !== "string") return text;
	const whole = /^\$\{\{((?:(?!\}\}).)*)\}\}$/s.exec(text)?.[1];
	if (whole !== undefined) return evaluate(whole, contexts, functions);
	return text.replace(/\$\{\{(.*?)\}\}/gs, (_all, inner) => textOf(evaluate(inner, contexts, functions)));
}

/** Whether an `if` holds. Without a function that asks for the status, `success()` is meant (GitHub, "Status check functions"). */
export function isMet(condition: unknown, contexts: Contexts, functions: Functions): boolean {
	const source = String(condition ?? "success()").replace(/^\$\{\{(.*)\}\}$/s, "$1");
	const asks = /\b(?:success|failure|cancelled|always)\s*\(/.test(source);
	return isTrue(evaluate(asks ? source : `success() && (${source})`, contexts, functions));
}
