import * as assert from "uvu/assert";
import type { Notice } from "../../../extensions/harvest/harvester/notifier.ts";
import { writeProposal } from "../../../extensions/repair/proposal-branches.ts";
import { startDailySearch } from "../../../extensions/repair/start.ts";
import { healthPath, layerPath } from "../../../registry/smallkey.ts";
import { Local, wms } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { logTo } from "../../store/git-store.ts";
import { HeldTimers } from "../harvest/harvester/held-timers.ts";

const main = "refs/heads/main";
const hour = 3_600_000;

let local: Local;
let end: () => Promise<void>;
let searches: number;
let noticed: Notice[];
let timers: HeldTimers;

test.before.each(async () => {
	const sick = { moved: { state: "wrong", since: "2026-W09" }, fresh: { state: "down", since: "2026-W10" } };
	local = await Local.open({
		files: {
			[layerPath("moved")]: wms("moved"),
			[layerPath("fresh")]: wms("fresh"),
			[healthPath]: JSON.stringify({ sick }),
		},
	});
	[searches, timers, noticed] = [0, new HeldTimers(), []];
	end = startDailySearch({
		repository: local.repository,
		store: local.store,
		readHealth: health,
		notify: (notice) => noticed.push(notice),
		search: async () => {
			searches += 1;
			if (searches === 1) await propose();
		},
		now: () => new Date(local.now),
		log: logTo(local.reported) as never,
		timers,
	});
});
test.after.each(async () => {
	await end();
	await local.end();
	assert.equal(local.reported, []);
});

async function health() {
	return `${await local.git("show", `${main}:${healthPath}`)}\n`;
}

async function propose() {
	const proposal = {
		subject: "repair moved",
		text: "",
		markdown: "",
		evidence: ["0123456789abcdef"],
		sure: "same" as const,
		branch: "repair/moved",
		smallkeys: ["moved"],
		edits: [{ path: layerPath("moved"), text: wms("new") }],
	};
	const base = await local.git("rev-parse", main);
	await writeProposal(local.repository, base, proposal, undefined, new Date(local.now));
}

async function next() {
	const ms = timers.waiting[0]?.ms ?? 0;
	timers.run();
	await eventually(() => timers.waiting.length === 1);
	return ms;
}

test("a search runs soon after the start, then once a day, and writes no layer", async () => {
	const layer = await local.git("show", `${main}:${layerPath("moved")}`);
	assert.ok((await next()) < hour);
	assert.is(searches, 1);
	const repair = { branch: "repair/moved", sure: "same" as const, smallkeys: ["moved"] };
	await eventually(() => noticed.length > 0);
	assert.equal(noticed, [{ event: "repair", repairs: [repair] }]);
	assert.is(await next(), 24 * hour);
	await eventually(() => noticed.length > 1);
	assert.equal(noticed.slice(1), [{ event: "repair", repairs: [] }], "and is not new on the next day");
	assert.is(searches, 2);
	assert.is(await local.git("show", `${main}:${layerPath("moved")}`), layer);
});

test("the status and the health say that a repair waits, as long as it does", async () => {
	await next();
	assert.equal(JSON.parse(await health()), {
		sick: {
			fresh: { state: "down", since: "2026-W10" },
			moved: { state: "wrong", since: "2026-W09", repair: true },
		},
	});
	const statuses = local.context.status as NonNullable<typeof local.context.status>;
	const repairOf = async (smallkey: string) => {
		const status = await statuses(smallkey, []);
		return status ? status("en").health.repair : null;
	};
	const { branch, commit, from, to, sure } = (await repairOf("moved")) ?? {};
	assert.is(commit, await local.git("rev-parse", "refs/heads/repair/moved"));
	const placeOf = (layer: string) => `http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en ${layer}`;
	const [before, after] = [placeOf("moved"), placeOf("new")];
	assert.equal([branch, sure], ["repair/moved", "same"]);
	assert.equal(
		[from, to],
		[
			{ en: before, fr: before },
			{ en: after, fr: after },
		],
	);
	assert.is(await repairOf("fresh"), undefined);
	const tip = await local.git("rev-parse", main);
	await next();
	assert.is(await local.git("rev-parse", main), tip, "nothing new is no commit");
	await local.git("update-ref", "-d", "refs/heads/repair/moved");
	await next();
	assert.not.match(await health(), "repair");
});

test.run();
