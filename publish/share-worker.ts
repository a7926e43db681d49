// One share of a large build, in a process of its own.
import type { Problem } from "../registry/catalogue.ts";
import type { FragmentSettings } from "../registry/targets/facts.ts";
import type { Written } from "./output.ts";
import { Share, type ShareSource } from "./share.ts";

/** What a share is told. */
export type ShareOrder =
	| { kind: "render"; source: ShareSource; settings: FragmentSettings }
	| { kind: "write"; out: string; isFresh: boolean; start: number };

/** What a share answers; `ticks` come while it writes. */
export type ShareReport =
	| { kind: "rendered"; problems: Problem[] }
	| { kind: "written"; written: Written }
	| { kind: "ticks"; ticks: number };

/** Fragments between two reports of progress. */
const reportEvery = 1000;

const share = new Share();
const report = (message: ShareReport) => process.send?.(message);

process.on("message", async (order: ShareOrder) => {
	if (order.kind === "render") {
		report({ kind: "rendered", problems: await share.render(order.source, order.settings) });
		return;
	}
	let ticks = 0;
	const written = share.write(order.out, order.isFresh, order.start, () => {
		ticks += 1;
		if (ticks % reportEvery === 0) report({ kind: "ticks", ticks: reportEvery });
	});
	report({ kind: "written", written });
	process.disconnect();
});
