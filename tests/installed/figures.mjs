/** Around the lines of docs/one-machine.md that `npm run test:all -- installed` writes. */
const first = "<!-- written by npm run test:all -- installed -->\n";
const last = "<!-- end of what is written -->\n";

/**
 * The page with what a run has seen: the versions and counts that its scenes print, and how many scenes passed.
 * @param {string} page
 * @param {readonly string[]} figures lines such as `<scene>: <text>`, in any order
 * @param {number} passed
 * @throws {Error} if the page has no place for them
 */
export function withFigures(page, figures, passed) {
	const [before, rest] = page.split(first);
	const after = rest?.split(last)[1];
	if (after === undefined) throw new Error(`the page has no place between ${first}and ${last}`);
	const lines = figures.map((line) => `- ${line}\n`).sort();
	return `${before}${first}\n- ${passed} scenes passed\n${lines.join("")}\n${last}${after}`;
}
