import { packDraft, unpackDraft } from "../../registry/draft.ts";
import { type Lang, langs, parseSmallkey } from "../../registry/smallkey.ts";
import type { Drawable } from "../map/drawable.ts";
import { bothLanguages } from "../page/both-languages.ts";
import { copyBox, copyButton } from "../page/copy.ts";
import { debounce, fill, h, newId } from "../page/dom.ts";
import { MapPanel } from "../page/map-panel.ts";
import type { Page, View } from "../page/page.ts";
import type { Texts } from "../text/texts.ts";
import { checkDraft, draftDrawable, draftFragments, mostBytes, storedText } from "./check.ts";
import { acceptDrops, type FileTaken, fileInput, type TakenFile } from "./file.ts";
import { DraftForm } from "./form.ts";
import { type PlacedProblem, placedProblem } from "./problems.ts";
import { proposalOf } from "./proposal.ts";
import { RegisterPanel } from "./register-panel.ts";

/** How long typing pauses before the draft is looked at, in milliseconds. */
const pauseMs = 250;

/** What the page begins with. */
const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

/** A layer that is there, to look at and to change. */
const example = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": {
    "service_url": "https://maps.geogratis.gc.ca/wms/canvec_en",
    "layer": "hydro",
    "service_name": "Rivers and lakes (CanVec)",
    "legend_format": "image/png"
  },
  "fr": {
    "service_url": "https://maps.geogratis.gc.ca/wms/canvec_fr",
    "layer": "hydro",
    "service_name": "Cours d’eau et lacs (CanVec)",
    "legend_format": "image/png"
  }
}
`;

/** A registration that is tried before it is published. */
export class DraftView implements View {
	readonly #page: Page;
	readonly #key = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: "64" });
	readonly #keyNote = h("p", { class: "hint", role: "status" });
	readonly #text = h("textarea", {
		rows: "16",
		spellcheck: "false",
		autocomplete: "off",
		autocapitalize: "off",
	});
	readonly #notice = h("div");
	readonly #verdict = h("div", { class: "verdict", role: "status" });
	readonly #form: DraftForm;
	readonly #result = h("div", { class: "result" });
	/** It stays the same element, so that what was opened stays open during typing. */
	readonly #fragments = h("details");
	readonly #register: RegisterPanel;
	readonly element: HTMLElement;
	#map: MapPanel | null = null;
	/** What the map shows: it is not drawn again for a change that it does not show. */
	#drawn = "";
	#serial = 0;

	constructor(page: Page) {
		this.#page = page;
		const { texts } = page;
		this.#form = new DraftForm(texts, (text) => {
			this.#text.value = text;
			this.#changed();
		});
		this.#register = new RegisterPanel(page);
		this.#key.id = newId();
		this.#keyNote.id = newId();
		this.#key.setAttribute("aria-describedby", this.#keyNote.id);
		this.#text.id = newId();
		this.#verdict.id = newId();
		this.#text.setAttribute("aria-describedby", this.#verdict.id);
		this.#fragments.open = matchMedia("(min-width: 64rem)").matches;
		const changed = debounce(pauseMs, () => this.#changed());
		for (const field of [this.#key, this.#text]) {
			field.addEventListener("input", changed);
			// The button that follows sends what the fields hold now.
			field.addEventListener("change", () => this.#changed());
		}
		const taken: FileTaken = {
			take: (file) => this.#takeFile(file),
			warn: (text) => fill(this.#notice, h("p", { class: "warning", role: "alert" }, text)),
		};
		this.element = h(
			"div",
			{ class: "draft" },
			h("h1", { tabindex: "-1" }, texts.draftTitle),
			h("p", {}, texts.draftIntro),
			h(
				"p",
				{},
				h(
					"button",
					{ type: "button", onclick: () => this.#takeFile({ name: "", text: example }) },
					texts.draftExample,
				),
			),
			this.#notice,
			h(
				"div",
				{ class: "field" },
				h("label", { for: this.#key.id }, texts.draftKey),
				this.#key,
				this.#keyNote,
			),
			h(
				"div",
				{ class: "twocolumns" },
				this.#form.element,
				h(
					"div",
					{ class: "field" },
					h("label", { for: this.#text.id }, texts.draftText),
					this.#text,
					fileInput(this.#page, taken),
					this.#verdict,
				),
			),
			this.#result,
			this.#register.element,
		);
		acceptDrops(this.#page, this.element, this.#text, taken);
		addEventListener("hashchange", this.#begin);
		void this.#begin();
	}

	title(): string {
		return this.#page.texts.draftTitle;
	}

	update(): void {}

	close(): void {
		this.#serial += 1;
		removeEventListener("hashchange", this.#begin);
		this.#map?.close();
	}

	/** Shows the draft of the address; also of another one that is opened while the page is there. */
	readonly #begin = async (): Promise<void> => {
		const link = /^#draft=(.*)$/s.exec(location.hash)?.[1];
		if (link === undefined && this.#text.value !== "") return;
		const draft = link === undefined ? { smallkey: "", text: empty } : await unpackDraft(link);
		const warning = h("p", { class: "warning", role: "alert" }, this.#page.texts.draftFrom);
		fill(this.#notice, !draft && warning);
		this.#key.value = draft?.smallkey ?? "";
		this.#text.value = draft?.text ?? empty;
		this.#look(draft === null || link === undefined);
	};

	/** The draft was changed here: the address follows. */
	#changed(): void {
		fill(this.#notice);
		this.#look(false);
		const serial = this.#serial;
		if (this.#text.value.length > mostBytes) return;
		void packDraft({ smallkey: this.#key.value, text: this.#text.value }).then((link) => {
			if (serial !== this.#serial) return;
			history.replaceState(null, "", `#draft=${link}`);
			// The link to the other language takes it along.
			this.#page.go(this.#page.state(), true);
		});
	}

	/** @param isNew whether nothing was written yet: then nothing is said to be wrong */
	#look(isNew: boolean): void {
		this.#serial += 1;
		const { texts } = this.#page;
		const text = this.#text.value;
		this.#form.read(text);
		void this.#judgeKey(this.#serial);
		const { registration, problems: found, warnings } = checkDraft(text);
		const problems = found.map((problem) => placedProblem(problem, this.#page.lang));
		this.#form.showProblems(isNew ? [] : problems);
		this.#text.setAttribute("aria-invalid", String(!isNew && problems.length > 0));
		this.#verdict.classList.toggle("good", registration !== null);
		if (registration) {
			const odd = warnings.map((warning) => placedProblem(warning, this.#page.lang));
			fill(
				this.#verdict,
				h("p", {}, texts.draftGood),
				odd.length > 0 && h("p", { class: "note" }, texts.warnings),
				odd.length > 0 && problemList(texts, odd),
			);
		} else if (isNew) fill(this.#verdict);
		else {
			fill(this.#verdict, h("p", {}, texts.draftProblems(problems.length)), problemList(texts, problems));
		}
		this.#showResult(registration);
		const smallkey = parseSmallkey(this.#key.value);
		const stored = registration ? storedText(registration) : null;
		this.#register.update(smallkey, stored, proposalOf(this.#page.settings, smallkey, stored ?? ""));
	}

	async #judgeKey(serial: number): Promise<void> {
		const { texts, catalogue } = this.#page;
		const given = this.#key.value;
		const smallkey = parseSmallkey(given);
		this.#key.setAttribute("aria-invalid", String(given !== "" && smallkey === null));
		if (smallkey === null)
			return fill(this.#keyNote, given === "" ? texts.draftKeyRule : texts.draftKeyWrong);
		const entry = await catalogue.find(smallkey).catch(() => null);
		if (serial === this.#serial) fill(this.#keyNote, entry ? texts.draftKeyTaken : texts.draftKeyFree);
	}

	#showResult(registration: ReturnType<typeof checkDraft>["registration"]): void {
		const { texts, settings } = this.#page;
		if (!registration) {
			this.#map?.close();
			this.#map = null;
			this.#drawn = "";
			return fill(this.#result);
		}
		const smallkey = parseSmallkey(this.#key.value) ?? "draft";
		const rendered = draftFragments(registration, smallkey, settings);
		const state = JSON.stringify([smallkey, rendered]);
		if (state === this.#drawn) return;
		this.#drawn = state;
		const drawables = Object.fromEntries(
			langs.map((lang) => [lang, draftDrawable(rendered, lang)]),
		) as Record<Lang, Drawable | null>;
		this.#map?.close();
		this.#map = new MapPanel(this.#page, drawables);
		const isFeature = drawables.en?.kind === "features" || drawables.en?.kind === "dynamic";
		fill(
			this.#result,
			h(
				"div",
				{ class: "twocolumns" },
				this.#map.element,
				h("section", {}, h("h2", {}, texts.both), bothLanguages(this.#page, drawables)),
			),
			isFeature && h("p", { class: "hint" }, texts.draftSymbols),
			h(
				"p",
				{},
				copyButton(texts, texts.draftShare, () => location.href),
			),
			this.#fragments,
		);
		const boxes = rendered.flatMap(({ target, fragments }) =>
			langs.map((lang) => {
				const text = fragments[lang];
				return copyBox(texts, `${target}, ${lang}`, text === null ? texts.draftNotHere : indented(text));
			}),
		);
		fill(this.#fragments, h("summary", {}, texts.draftFragments), h("div", { class: "copies" }, boxes));
		this.#map.open();
	}

	#takeFile({ name, text }: TakenFile): void {
		this.#text.value = text;
		if (this.#key.value === "" && parseSmallkey(name)) this.#key.value = name;
		this.#changed();
	}
}

/** Problems with their places, each in its own language. */
function problemList(texts: Texts, problems: readonly PlacedProblem[]): HTMLElement {
	return h(
		"ul",
		{},
		problems.map(({ pointer, text, lang }) =>
			h(
				"li",
				{},
				pointer !== "" && h("code", {}, pointer),
				pointer !== "" && `${texts.colon} `,
				h("span", { lang }, text),
			),
		),
	);
}

function indented(text: string): string {
	return JSON.stringify(JSON.parse(text), null, 2);
}
