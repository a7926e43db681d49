import { type HealthReport, healthReportPath, readHealthReport } from "../../registry/index/health.ts";
import type { State } from "./address.ts";
import { breakable, fill, h } from "./dom.ts";
import { type Page, readFile, stateLink, stateText, type View } from "./page.ts";
import { weekText } from "./week.ts";

/** The sick layers, by who can correct them. */
export class HealthView implements View {
	readonly #page: Page;
	readonly #place = h("div");
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

	close(): void {}

	async #load(): Promise<void> {
		const { texts } = this.#page;
		const text = await readFile(this.#page.root, healthReportPath).catch(() => null);
		const report = text === null ? null : readHealthReport(text);
		if (!report) return fill(this.#place, h("p", { role: "status" }, texts.healthMissing));
		if (report.layers.length === 0) return fill(this.#place, h("p", { role: "status" }, texts.healthNone));
		fill(
			this.#place,
			byOwner(report).map(([owner, layers]) => this.#table(owner, layers)),
		);
	}

	#table(owner: string, layers: HealthReport["layers"]): HTMLElement {
		const { lang, texts } = this.#page;
		const state: State = { ...this.#page.state(), page: "layers" };
		return h(
			"table",
			{ class: "sick" },
			h("caption", {}, texts.healthOf(owner || texts.healthUnknown, layers.length)),
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					[texts.healthLayer, texts.healthState, texts.healthSince].map((name) =>
						h("th", { scope: "col" }, name),
					),
				),
			),
			h(
				"tbody",
				{},
				layers.map(({ smallkey, title, health }) =>
					h(
						"tr",
						{},
						h(
							"th",
							{ scope: "row" },
							stateLink(this.#page, { ...state, layer: smallkey }, breakable(title[lang] || smallkey)),
						),
						h("td", {}, stateText(texts, health.state)),
						h("td", {}, weekText(lang, health.since)),
					),
				),
			),
		);
	}
}

/** Owners in the order of their names, those of nobody last. */
function byOwner({ layers }: HealthReport): [string, HealthReport["layers"]][] {
	const groups = new Map<string, HealthReport["layers"]>();
	for (const layer of layers) {
		const owner = layer.owners.join(", ");
		groups.set(owner, [...(groups.get(owner) ?? []), layer]);
	}
	return [...groups].sort(([a], [b]) => Number(a === "") - Number(b === "") || (a < b ? -1 : 1));
}
