export interface Results {
	suites: (() => Promise<void>)[];
	waiting: Set<unknown[]>;
	passed: number;
	failures: { name: string; error: unknown }[];
	skipped: string[];
	rows: unknown[];
}

export const results: Results = {
	suites: [],
	waiting: new Set(),
	passed: 0,
	failures: [],
	skipped: [],
	rows: [],
};

type Body<T> = (scene: T) => unknown;

export interface Test<T = object> {
	(name: string, body: Body<T>): void;
	before: ((body: Body<T>) => void) & { each: (body: Body<T>) => void };
	after: ((body: Body<T>) => void) & { each: (body: Body<T>) => void };
	skip: (name: string, body: Body<T>) => void;
	run: () => void;
}

export function suite<T extends object = object>(name = ""): Test<T> {
	let tests: [string, Body<T>][] = [];
	const hooks: Record<"before" | "after" | "beforeEach" | "afterEach", Body<T>[]> = {
		...{ before: [], after: [], beforeEach: [], afterEach: [] },
	};
	const scene = {} as T;
	const call = async (bodies: Body<T>[]) => {
		for (const body of bodies) await body(scene);
	};

	async function attempt(title: string, body: () => Promise<void>, end: Body<T>[]): Promise<boolean> {
		const count = results.failures.length;
		const note = (error: unknown) => void results.failures.push({ name: `${name} ${title}`.trim(), error });
		await body().catch(note);
		await call(end).catch(note);
		return results.failures.length === count;
	}

	async function runAll(all: typeof tests): Promise<void> {
		const runTests = async () => {
			await call(hooks.before);
			for (const [title, body] of all) {
				const run = async () => {
					await call(hooks.beforeEach);
					await body(scene);
				};
				if (await attempt(title, run, hooks.afterEach)) results.passed += 1;
			}
		};
		await attempt("(set-up)", runTests, hooks.after);
	}

	const test = (title: string, body: Body<T>) => {
		tests.push([title, body]);
		results.waiting.add(tests);
	};
	const hook = (when: "before" | "after") =>
		Object.assign((body: Body<T>) => void hooks[when].push(body), {
			each: (body: Body<T>) => void hooks[`${when}Each`].push(body),
		});
	const run = () => {
		const all = tests;
		results.waiting.delete(tests);
		tests = [];
		results.suites.push(() => runAll(all));
	};
	const leaveOut = (title: string) => void results.skipped.push(`${name} ${title}`.trim());
	return Object.assign(test, { before: hook("before"), after: hook("after"), skip: leaveOut, run });
}

let single = suite();
export const test: Test = Object.assign((name: string, body: Body<object>) => single(name, body), {
	before: Object.assign((body: Body<object>) => single.before(body), {
		each: (body: Body<object>) => single.before.each(body),
	}),
	after: Object.assign((body: Body<object>) => single.after(body), {
		each: (body: Body<object>) => single.after.each(body),
	}),
	skip: (name: string, body: Body<object>) => single.skip(name, body),
	run: () => {
		single.run();
		single = suite();
	},
});

/** Says that the tests of a file are left out. @param reason what they need, in one line */
export function skip(reason: string): void {
	results.skipped.push(reason);
	results.waiting.clear();
	results.suites.push(async () => {});
}

/** Hands a row to the page that the runner writes after all files of a group. @param row a JSON value */
export function noteRow(row: unknown): void {
	results.rows.push(row);
}
