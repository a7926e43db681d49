import {
	type HealthGroup,
	healthReportPath,
	parseHealthReport,
	type SickLayer,
} from "../../registry/health-report.ts";
import type { Texts } from "../text/english.ts";
import { breakable, fill, h } from "./dom.ts";
import { lookButton, readDrawable } from "./drawables.ts";
import { type Page, readFile, stateLink, stateText, type View, weekText } from "./page.ts";

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
		const report = text === null ? null : parseHealthReport(text);
		if (!report) return fill(this.#place, h("p", { role: "status" }, texts.healthMissing));
		const { checked, unchecked, sick, groups } = report;
		const said = [
			texts.healthChecked(checked),
			unchecked > 0 && texts.healthUnchecked(unchecked),
			checked > 0 && (sick > 0 ? texts.healthSick(sick) : texts.healthNone),
		];
		fill(
			this.#place,
			h("p", { role: "status" }, said.filter(Boolean).join(" ")),
			groups.map((group) => this.#table(group)),
		);
	}

	#table({ owner, host, layers }: HealthGroup): HTMLElement {
		const { texts } = this.#page;
		const heads = [texts.healthLayer, texts.healthState, texts.healthSince, texts.lookNow];
		const columns = heads.map((name) => h("th", { scope: "col" }, name));
		return h(
			"table",
			{ class: "sick" },
			h("caption", {}, texts.healthOf(owner || texts.healthUnknown, layers.length), " – ", breakable(host)),
			h("thead", {}, h("tr", {}, columns)),
			h(
				"tbody",
				{},
				layers.map((layer) => this.#row(layer)),
			),
		);
	}

	#row({ smallkey, title, state, since, cause, repair }: SickLayer): HTMLElement {
		const { lang, texts } = this.#page;
		const { signal } = this.#under;
		const name = title[lang] || smallkey;
		const layer = stateLink(
			this.#page,
			{ ...this.#page.state(), page: "layers", layer: smallkey },
			breakable(name),
		);
		const look = lookButton(this.#page, name, signal, () =>
			readDrawable(this.#page, smallkey, lang, signal, () => null),
		);
		return h(
			"tr",
			{},
			h("th", { scope: "row" }, layer),
			h(
				"td",
				{},
				stateText(texts, state),
				causeText(texts, cause),
				repair && h("span", { class: "block" }, texts.repairProposed),
			),
			h("td", {}, weekText(lang, since)),
			h("td", {}, look),
		);
	}
}

/** Why a layer is sick, below its state: the status in this language, other causes as they were stored, in English. */
export function causeText(texts: Texts, cause = ""): HTMLElement | false {
	const [, status] = /^answers with status (\d{3})$/.exec(cause) ?? [];
	const attributes = { class: "block hint", lang: status ? undefined : "en" };
	return cause !== "" && h("span", attributes, breakable(status ? texts.healthStatus(status) : cause));
}
