/** The contexts of an expression: `github`, `needs`, `steps`, … */
export type Contexts = Record<string, unknown>;

/** Functions by their name in lower case: what a job or a step knows of those before it. */
export type Functions = Record<string, (...args: unknown[]) => unknown>;

const common: Functions = {
	join: (list, separator) => (list as unknown[]).map(textOf).join(String(separator)),
};

/** The texts, paths, functions and signs of the workflows' expressions; paths are `needs.*.result`. */
const token =
	/\s*(?:'((?:[^']|'')*)'|([a-z_][\w-]*(?:\.(?:[\w-]+|\*))*)(\s*\()?|(&&|\|\||[=!]=|[!(),]|\d+))/giy;

/** A value at a path; "" where nothing is there, which is what an expression compares it with. */
function valueAt(path: string, contexts: Contexts): unknown {
	const [name = "", ...names] = path.split(".");
	if (!(name in contexts)) throw new Error(`${path}: there is no context ${name} here`);
	return names.reduce((value: unknown, member, index): unknown => {
		if (names[index - 1] === "*") return (value as Contexts[]).map((item) => item[member] ?? "");
		if (member === "*") return Object.values((value ?? {}) as object);
		return (value as Contexts | null)?.[member] ?? "";
	}, contexts[name]);
}

/**
 * The value of an expression of GitHub Actions, without the `${{ }}` around it: its signs are those of JavaScript, and each
 * text, path and function becomes a value of a list.
 * @throws {Error} for what the workflows do not use
 */
function evaluate(source: string, contexts: Contexts, functions: Functions = {}): unknown {
	const values: unknown[] = [];
	const listed = (value: unknown) => `values[${values.push(value) - 1}]`;
	let code = "";
	token.lastIndex = 0;
	while (source.slice(token.lastIndex).trim() !== "") {
		const [, text, path, call, sign] = token.exec(source) ?? [];
		if (text !== undefined) code += listed(text.replaceAll("''", "'"));
		else if (path !== undefined && call !== undefined) {
			const called = functions[path.toLowerCase()] ?? common[path.toLowerCase()];
			if (!called) throw new Error(`${source}: there is no function ${path} here`);
			code += `${listed(called)}(`;
		} else if (path !== undefined) code += listed(path === "true" ? true : valueAt(path, contexts));
		else if (sign !== undefined) code += sign;
		else throw new Error(`${source}: is no expression`);
	}
	return new Function("values", `return ${code}`)(values);
}

export function textOf(value: unknown): string {
	return value === null || value === undefined ? "" : String(value);
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
	return Boolean(evaluate(asks ? source : `success() && (${source})`, contexts, functions));
}
