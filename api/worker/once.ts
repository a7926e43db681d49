import type { Bindings } from "./bindings.ts";

/** What is made once for each environment of the worker. */
export function once<T>(made: WeakMap<Bindings, T>, bindings: Bindings, make: () => T): T {
	const value = made.get(bindings) ?? make();
	made.set(bindings, value);
	return value;
}
