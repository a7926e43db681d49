import { availableParallelism } from "node:os";
import { versionLine } from "../../store/files/version.ts";
import { boundOf, type Measured, rangeOf, short } from "./measure/row.ts";

/** Renders docs/speed.md: one table of all rows, with a column for each number of layers. */
export function speedPage(measured: readonly Measured[], sizes: readonly number[]): string {
	const [design = 0] = sizes;
	const find = (name: string, layers = design) =>
		measured.find((one) => one.name === name && one.layers === layers);
	/** The median of a row, with its unit. */
	const figure = (name: string, layers = design) => {
		const row = find(name, layers);
		return row
			? `${short(row.ours.median)} ${row.unit.replace("requests/s", "a second").replace("changes/s", "a second")}`
			: "–";
	};
	const ratio = (name: string) => short(find(name)?.ratio?.median ?? Number.NaN);
	const most = sizes.at(-1) ?? design;
	const names = [...new Set(measured.map(({ name }) => name))];
	const layersText = (layers: number) => `${layers.toLocaleString("en")} layers`;
	return `# Speed

One run of version ${versionLine()} on a machine with ${availableParallelism()} cores, Node ${process.versions.node}. Each figure is compared with
another tool for the same work, measured in turn in the same run, or with a limit. The figures depend on the machine; compare the ratios.

## In short

With ${layersText(design)}; with ${most.toLocaleString("en")} in brackets:

| question | answer | row |
|---|---|---|
| How long does a publisher wait for a PUT? | ${figure("put-alone")} alone (${figure("put-alone", most)}); 32 publishers make ${figure("puts")} | \`put-alone\`, \`puts\` |
| How many reads does one process answer? | ${figure("doc")}, ${ratio("doc")} of a bare \`node:http\` server; a web server in front or a CDN answers more | \`doc\` |
| How long does a push of all layers take? | ${figure("push")} (${figure("push", most)}); reads are served meanwhile, delayed by ${figure("push-delay")} at most | \`push\`, \`push-delay\` |
| How long does a full build take? | ${figure("build-full")} (${figure("build-full", most)}); ${figure("build-commit")} (${figure("build-commit", most)}) after one change | \`build-full\`, \`build-commit\` |
| How long does a start take? | ${figure("start")} (${figure("start", most)}) | \`start\` |
| How much memory do all processes need? | ${figure("push-memory")} (${figure("push-memory", most)}) at most, during a push of all layers; ${figure("memory")} (${figure("memory", most)}) after a start | \`push-memory\`, \`memory\` |

## Figures

The median of the rounds, with the range in brackets. **Bold**: misses its goal.

| row | what | reference | ${sizes.map((layers) => `${layersText(layers)}: ours ÷ reference = ratio | goal`).join(" | ")} |
|---|---|---|${"---|---|".repeat(sizes.length)}
${names.map((name) => lineIn(sizes.map((layers) => find(name, layers)))).join("\n")}

## Measure it again

\`\`\`sh
apt-get install wrk
npx fragment-publisher bench --layers 1000 --rounds 3 --only doc,docs-50    # a first look
npx fragment-publisher bench --page docs/speed.md --beside <checkout of 66b3297, with its packages>
\`\`\`

The service runs as \`npm start\` starts it, with \`HARVEST=off\`. \`tests/bench/layers.ts\` makes the same layers each time: seven of ten are
wms, the rest feature. 100,000 layers need 20 GB in \`TMPDIR\`. Client and server share the cores: with other work on the machine, requests
per second vary by a third.

- Reads: \`wrk -t1 -c64\` for 3 s. The reference (\`tests/bench/measure/bare-server.ts\`) sends the same headers and bytes, whatever it
  is asked.
- PUTs: a process on the same machine signs each request. The first release (66b3297) did not sync its folders, and had no catalogue.
- Builds: a whole process; \`sync\` before a full build and before a copy.
- Memory: of all processes; pages that they share are counted once (PSS).
- \`first-rows\`, \`first-load\`, \`layout-shift\`: Chromium with an empty cache, over slow 3G.
`;
}

/** A row of the table. @param sizes the row at each number of layers; undefined where it was not measured */
function lineIn(sizes: readonly (Measured | undefined)[]): string {
	const { name, what } = sizes.find(Boolean) as Measured;
	const cells = sizes.flatMap((row) => {
		if (!row) return ["–", "–"];
		const { ours, reference, ratio, unit, reach, reached } = row;
		const own = `${rangeOf(ours)} ${unit}`.trimEnd();
		const mark = (text: string) => (reached ? text : `**${text}**`);
		if (!ratio) return [mark(own), boundOf(reach, unit)];
		const sides = reach.of === "ours" ? mark(own) : own;
		const last = reach.of === "ours" ? rangeOf(ratio) : mark(rangeOf(ratio));
		return [`${sides} ÷ ${rangeOf(reference)} = ${last}`, boundOf(reach, unit)];
	});
	return `| ${[`\`${name}\``, what.ours, what.reference === "none" ? "" : what.reference, ...cells].join(" | ")} |`;
}
