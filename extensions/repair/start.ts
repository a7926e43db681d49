import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { OtherRoute, Question } from "../../api/context.ts";
import type { Reply } from "../../api/reply.ts";
import type { RunningService, Started } from "../../api/service/extensions.ts";
import { readHealth, servedRef } from "../../api/service/repository.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { markRepairs, repairTrailer, weekOf } from "../../registry/health.ts";
import { decodeSegment, type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import type { SiteService } from "../../site/extension.ts";
import type { Catalogue } from "../../site/http/catalogue-requests.ts";
import { answerMoved, answerNoPage, rootFrom } from "../../site/http/pages.ts";
import { pageHeaders } from "../../site/http/site-headers.ts";
import { readOpen } from "../../store/git/review-branches.ts";
import { commitHealth, type HealthOptions } from "../harvest/harvester/health-checks.ts";
import type { HarvestService } from "../harvest/harvester/open.ts";
import { systemTimers } from "../harvest/harvester/schedule.ts";
import { childEnvironment, type HarvestSettings } from "../harvest/settings.ts";
import { createReadRepairs, type ReadRepairs, repairHtml, repairsHtml } from "./waiting-repairs.ts";

/** The folder of repairs, a slash and a smallkey, with or without the file's ending. */
const repairPath = /^\/(en|fr)\/repair(?:(\/)([^/?]{0,200}?)(?:\.html)?)?(?:\?.*)?$/;

/** GET <base>/en/repair/<smallkey>, /en/repair/ and the same in French: a decision changes them at once. */
export function repairRoutes(catalogue: Catalogue, repairs: ReadRepairs): OtherRoute[] {
	async function answer({ path, basePath }: Question): Promise<Reply> {
		const [, lang = "en", slash, segment = ""] = repairPath.exec(path) ?? [];
		if (slash === undefined) return answerMoved(basePath + path.replace("/repair", "$&/"));
		const smallkey = segment === "" ? "" : parseSmallkey(decodeSegment(segment) ?? "");
		const file = `${lang}/repair/${smallkey}.html`;
		const [settings, { isSecure }] = [await catalogue.settings(), catalogue.files];
		const page = { file, root: rootFrom(path.slice(1)) };
		const waiting = smallkey ? await repairs.of(smallkey) : null;
		if (!settings || smallkey === null || (smallkey !== "" && !waiting))
			return answerNoPage(page, settings, isSecure);
		const html = waiting
			? repairHtml(lang as Lang, smallkey, await catalogue.entries.find(smallkey), waiting, settings)
			: repairsHtml(lang as Lang, await repairs.list(), settings);
		return { status: 200, headers: pageHeaders(file, isSecure), body: new TextEncoder().encode(html) };
	}

	const bound = "one list of git for all who ask meanwhile; the evidence of a repair is read once";
	return [{ name: "page", bound, matches: (path) => repairPath.test(path), answer }];
}

const firstMs = 600_000;
const everyMs = 86_400_000;

const maxSearchMs = 7_200_000;

/** Above it, Node ends the search. */
const maxOutputBytes = 10_000_000;

/**
 * @param options `search` runs `npx fragment-publisher repair`
 * @returns a function that ends this, with a running search
 */
export function startRepairs(
	options: HealthOptions & { repository: string; search: (signal: AbortSignal) => Promise<unknown> },
): () => Promise<void> {
	const { timers, log, search, repository } = options;
	const ending = new AbortController();
	const { signal } = ending;
	let timer: unknown;
	let running = Promise.resolve();

	async function run(): Promise<void> {
		try {
			const earlier = new Set((await readOpen(repository, servedRef)).flatMap(({ evidence }) => evidence));
			await search(signal);
			if (!signal.aborted) await markProposed(earlier);
		} catch (error) {
			if (!signal.aborted) log.error(error);
		}
		if (!signal.aborted) later(everyMs);
	}

	async function markProposed(earlier: ReadonlySet<string>): Promise<void> {
		const open = await readOpen(repository, servedRef);
		const repairs = open
			.filter(({ evidence }) => evidence.some((hash) => !earlier.has(hash)))
			.map(({ branch, sure, smallkeys }) => ({ branch, sure, smallkeys }));
		options.notify?.({ event: "repair", repairs });
		const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
		const { size } = proposed;
		await commitHealth(options, (before) => {
			const after = markRepairs(before, proposed, weekOf(options.now()));
			const marked = [...after].filter(([smallkey, { repair }]) => repair && !before.get(smallkey)?.repair);
			const subject = `health: ${size} ${size === 1 ? "layer has" : "layers have"} a proposed repair`;
			return { after, subject, trailers: marked.map(([smallkey]) => [repairTrailer, smallkey] as const) };
		});
	}

	function later(ms: number): void {
		timer = timers.set(() => {
			running = run();
		}, ms);
	}

	later(firstMs);
	return async () => {
		ending.abort();
		timers.clear(timer);
		await running;
	};
}

function searchProcess(configuration: Configuration) {
	const env = childEnvironment(configuration);
	const command = fileURLToPath(new URL("../../scripts/fragments.cjs", import.meta.url));
	const limits = { timeout: maxSearchMs, maxBuffer: maxOutputBytes };
	return (signal: AbortSignal) =>
		promisify(execFile)(process.execPath, [command, "repair"], { env, signal, ...limits });
}

export type RepairingService = RunningService<HarvestSettings & SiteService["configuration"]> &
	Pick<SiteService, "catalogue"> &
	HarvestService;

export function startRepair(service: RepairingService): Started {
	const { configuration, repository, catalogue, store, log, notify } = service;
	if (repository === null) return { close: () => undefined };
	const { harvest, pictures } = configuration;
	const repairs = createReadRepairs(repository, pictures);
	const search = searchProcess(configuration);
	const end =
		harvest.on && harvest.repair
			? startRepairs({
					store,
					log,
					notify,
					repository,
					search,
					timers: systemTimers,
					now: () => new Date(),
					readHealth: () => readHealth(repository),
				})
			: () => undefined;
	return {
		routes: catalogue ? repairRoutes(catalogue, repairs) : [],
		layer: async (smallkey, layer) => {
			// A layer that works may have a permanent redirect, and therefore a repair, too.
			const waiting = layer && (await repairs.of(smallkey));
			return waiting ? () => ({ health: { repair: waiting.repair } }) : null;
		},
		close: end,
	};
}
