import { indexVersion } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { State } from "./address.ts";
import { breakable, fill, h } from "./dom.ts";
import { type Page, readFile, stateLink, stateText, type View } from "./page.ts";
import { weekText } from "./week.ts";

/** The file that lists the sick layers. */
const healthReportPath = "index/health.json";

/** Layers of one owner on one host. */
interface HealthGroup {
	/** Who can correct the registrations; empty where it is not known. */
	owner: string;
	host: string;
	layers: {
		smallkey: string;
		title: Record<Lang, string>;
		state: string;
		/** Week as ISO 8601 writes it. */
		since: string;
		/** Whether a repair is proposed. */
		repair?: true;
		/** What the service answered, in words; and its HTTP status. */
		cause?: string | Record<Lang, string>;
		status?: number;
	}[];
}

/** Its content. */
interface HealthReport {
	version: number;
	/** Number of layers that were looked at; left out where it is not known. */
	checked?: number;
	unchecked: number;
	groups: HealthGroup[];
}

/** The sick layers, by who can correct them and by host. */
export class HealthView implements View {
	readonly #page: Page;
	readonly #place = h("div");
	readonly #under = new AbortController();
	readonly element: HTMLElement;

	constructor(page: Page) {
		this.#page = page;
		const { texts } = page;
		this.element = h(
			"div",
			{ class: "health" },
			h("h1", { tabindex: "-1" }, texts.healthTitle),
			h("p", {}, texts.healthIntro),
			this.#place,
		);
		void this.#load();
	}

	title(): string {
		return this.#page.texts.healthTitle;
	}

	update(): void {}

	close(): void {
		this.#under.abort();
	}

	async #load(): Promise<void> {
		const { texts, root } = this.#page;
		const text = await readFile(root, healthReportPath, "now", this.#under.signal).catch(() => null);
		if (this.#under.signal.aborted) return;
		const report = text === null ? null : parseReport(text);
		if (!report) return fill(this.#place, h("p", { role: "status" }, texts.healthMissing));
		const { checked, unchecked, groups } = report;
		const sick = groups.reduce((sum, { layers }) => sum + layers.length, 0);
		fill(
			this.#place,
			h(
				"p",
				{ role: "status" },
				[
					checked !== undefined && texts.healthChecked(checked),
					unchecked > 0 && texts.healthUnchecked(unchecked),
					checked !== 0 && (sick > 0 ? texts.healthSick(sick) : texts.healthNone),
				]
					.filter(Boolean)
					.join(" "),
			),
			groups.map((group) => this.#table(group)),
		);
	}

	#table({ owner, host, layers }: HealthGroup): HTMLElement {
		const { lang, texts } = this.#page;
		const state: State = { ...this.#page.state(), page: "layers" };
		const heads = [texts.healthLayer, texts.healthState, texts.healthSince];
		return h(
			"table",
			{ class: "sick" },
			h("caption", {}, texts.healthOf(owner || texts.healthUnknown, layers.length), " – ", breakable(host)),
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					heads.map((name) => h("th", { scope: "col" }, name)),
				),
			),
			h(
				"tbody",
				{},
				layers.map(({ smallkey, title, state: seen, since, cause, status, repair }) => {
					const why = typeof cause === "object" ? cause[lang] : (cause ?? "");
					const seenText = status === undefined ? "" : texts.healthStatus(status);
					return h(
						"tr",
						{},
						h(
							"th",
							{ scope: "row" },
							stateLink(this.#page, { ...state, layer: smallkey }, breakable(title[lang] || smallkey)),
						),
						h(
							"td",
							{},
							stateText(texts, seen),
							[seenText, why, repair ? texts.repairProposed : ""]
								.filter(Boolean)
								.map((more) => h("span", { class: "block hint" }, breakable(more))),
						),
						h("td", {}, weekText(lang, since)),
					);
				}),
			),
		);
	}
}

/** Reads the report; null where it is of another version, or no report. */
function parseReport(text: string): HealthReport | null {
	try {
		const value = JSON.parse(text) as HealthReport | null;
		return value?.version === indexVersion && Array.isArray(value.groups) ? value : null;
	} catch {
		return null;
	}
}
