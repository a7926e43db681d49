import * as assert from "uvu/assert";
import { watchLayer } from "../../../extensions/harvest/watch-layer.ts";
import { createRepairSearch, type Repair } from "../../../extensions/repair/repair.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { namedLayers, type Registration } from "../../../registry/registration.ts";
import { type Lang, langs } from "../../../registry/smallkey.ts";
import { test } from "../../helpers/suite.ts";
import type { Move } from "./move.ts";
import { MemoryWorld } from "./world.ts";

const server = new MemoryWorld();

function changesIn({ layer, registration }: Repair, lang: Lang): Record<string, string> | undefined {
	const membersOf = (state: Registration): Record<string, string> => ({
		service_url: state[lang].service_url,
		layer: namedLayers(state, lang)[0] ?? "",
	});
	const [before, after] = [membersOf(layer.registration), membersOf(registration)];
	const entries = Object.entries(after).filter(([name, value]) => value !== before[name]);
	return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function outcomeOf(repair: Repair | null) {
	if (!repair) return "nothing";
	const members = langs.map((lang) => [lang, changesIn(repair, lang)] as const);
	return { sure: repair.sure, ...Object.fromEntries(members.filter(([, value]) => value)) };
}

async function find({ registered, before, after, isUnknown, others = [] }: Move) {
	server.enter(before);
	const known = isUnknown ? null : (await server.describe(registered)).description;
	if (!isUnknown) assert.ok(known?.en && known.fr);
	server.enter(after);
	// The next harvest comes before the look: what it stores must not hide the move.
	const { description } = await server.describe(registered, known);
	const layer: CheckedLayer = { smallkey: "moved", registration: registered, description };
	const registry = [
		layer,
		...others.map((registration, at) => ({ smallkey: `other${at}`, registration, description: null })),
	];
	server.asked.length = 0;
	const looked = await createRepairSearch(server.clients(), registry)(layer, true);
	return { ...looked, requests: server.asked.length };
}

export function runMoves(moves: readonly Move[]) {
	for (const move of moves) {
		test(move.name, async () => {
			const { isSick, repair, requests } = await find(move);
			assert.equal(outcomeOf(repair), move.expected);
			assert.is(isSick, !move.isWell);
			assert.ok(requests <= (move.maxRequests ?? 60), `${requests} requests`);
			if (!repair) return;
			// Once merged it is harvested, and a viewer draws it.
			const { harvested } = await server.describe(repair.registration, repair.description);
			const looked = await watchLayer(repair.registration, repair.description, server.clients(), null);
			const findings = [...harvested.findings, ...looked];
			assert.not(findings.some((finding) => repair.byLang.some(({ lang }) => lang === finding.lang)));
		});
	}
	test.run();
}
