export const results = {
	suites: [] as (() => Promise<void>)[],
	/** The tests of suites that have not been run. */
	waiting: new Set<unknown[]>(),
	passed: 0,
	failures: [] as { name: string; error: unknown }[],
	skipped: [] as string[],
	rows: [] as unknown[],
};

type Body<T> = (scene: T) => unknown;

type Hook<T> = ((body: Body<T>) => void) & { each: (body: Body<T>) => void };

export interface Test<T = object> {
	(name: string, body: Body<T>): void;
	before: Hook<T>;
	after: Hook<T>;
	skip: (name: string, body: Body<T>) => void;
	run: () => void;
}

export function suite<T extends object = object>(name = ""): Test<T> {
	const empty = () => ({
		tests: [] as [string, Body<T>][],
		before: [] as Body<T>[],
		after: [] as Body<T>[],
		beforeEach: [] as Body<T>[],
		afterEach: [] as Body<T>[],
		scene: {} as T,
	});
	let current = empty();

	async function runAll({ tests, scene, ...hooks }: typeof current) {
		const call = async (bodies: Body<T>[]) => {
			for (const body of bodies) await body(scene);
		};
		const attempt = async (title: string, body: () => Promise<void>, end: Body<T>[]) => {
			const count = results.failures.length;
			const note = (error: unknown) => void results.failures.push({ name: `${name} ${title}`.trim(), error });
			await body().catch(note);
			await call(end).catch(note);
			return results.failures.length === count;
		};
		const runTests = async () => {
			await call(hooks.before);
			for (const [title, body] of tests) {
				const run = () => call([...hooks.beforeEach, body]);
				if (await attempt(title, run, hooks.afterEach)) results.passed += 1;
			}
		};
		await attempt("(set-up)", runTests, hooks.after);
	}

	const test = (title: string, body: Body<T>) => {
		current.tests.push([title, body]);
		results.waiting.add(current.tests);
	};
	const hook = (when: "before" | "after"): Hook<T> =>
		Object.assign((body: Body<T>) => void current[when].push(body), {
			each: (body: Body<T>) => void current[`${when}Each`].push(body),
		});
	const run = () => {
		const all = current;
		results.waiting.delete(all.tests);
		current = empty();
		results.suites.push(() => runAll(all));
	};
	const skip = (title: string) => void results.skipped.push(`${name} ${title}`.trim());
	return Object.assign(test, { before: hook("before"), after: hook("after"), skip, run });
}

/** For a file with one suite. */
export const test = suite();

/** @param reason what the tests of the file need, in one line */
export function skip(reason: string): void {
	results.skipped.push(reason);
	results.waiting.clear();
	results.suites.push(async () => {});
}

/** @param row JSON for the page that the runner writes */
export function noteRow(row: unknown): void {
	results.rows.push(row);
}
