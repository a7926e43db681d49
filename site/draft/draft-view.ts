import { canonicalText } from "../../registry/canonical.ts";
import { packDraft, unpackDraft } from "../../registry/draft.ts";
import { largestRegistration } from "../../registry/registration.ts";
import { langs, parseSmallkey } from "../../registry/smallkey.ts";
import { bothLanguages } from "../page/both-languages.ts";
import { copyBox, copyButton } from "../page/copy.ts";
import { debounce, describe, field, fill, h, warning } from "../page/dom.ts";
import { MapPanel } from "../page/map-panel.ts";
import type { Page, View } from "../page/page.ts";
import { checkDraft, draftDrawable, draftFragments } from "./check.ts";
import { acceptDrops, type FileTaken, fileInput, type TakenFile } from "./file.ts";
import { DraftForm } from "./form.ts";
import { type PlacedProblem, placedProblem, problemList } from "./problems.ts";
import { RegisterPanel } from "./register-panel.ts";

/** Pause in typing after which the draft is checked, in milliseconds. */
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
		describe(this.#key, this.#keyNote);
		describe(this.#text, this.#verdict);
		this.#fragments.open = matchMedia("(min-width: 64rem)").matches;
		const changed = debounce(pauseMs, () => this.#changed());
		for (const control of [this.#key, this.#text]) {
			control.addEventListener("input", changed);
			// The button that follows sends what the fields hold now.
			control.addEventListener("change", () => this.#changed());
		}
		const taken: FileTaken = {
			take: (file) => this.#takeFile(file),
			warn: (text) => fill(this.#notice, warning(text)),
		};
		const loadExample = () => this.#takeFile({ name: "", text: example });
		const text = field(texts.draftText, this.#text, fileInput(page, taken), this.#verdict);
		this.element = h(
			"div",
			{ class: "draft" },
			h("h1", { tabindex: "-1" }, texts.draftTitle),
			h("p", {}, texts.draftIntro),
			h("p", {}, h("button", { onclick: loadExample }, texts.draftExample)),
			this.#notice,
			field(texts.draftKey, this.#key, this.#keyNote),
			h("div", { class: "twocolumns" }, this.#form.element, text),
			this.#result,
			this.#register.element,
		);
		acceptDrops(page, this.element, this.#text, taken);
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
		fill(this.#notice, !draft && warning(this.#page.texts.draftFrom));
		this.#key.value = draft?.smallkey ?? "";
		this.#text.value = draft?.text ?? empty;
		this.#look(draft === null || link === undefined);
	};

	/** The draft was changed here: the address follows. */
	#changed(): void {
		fill(this.#notice);
		this.#look(false);
		const serial = this.#serial;
		if (this.#text.value.length > largestRegistration) return;
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
		const text = this.#text.value;
		this.#form.read(text);
		void this.#judgeKey(this.#serial);
		const { registration, problems: found, warnings } = checkDraft(text);
		const problems = isNew ? [] : found.map((problem) => placedProblem(problem, this.#page.lang));
		this.#form.showProblems(problems);
		this.#text.setAttribute("aria-invalid", String(problems.length > 0));
		this.#showVerdict(registration !== null, problems, warnings);
		this.#showResult(registration);
		const smallkey = parseSmallkey(this.#key.value);
		const stored = registration ? canonicalText(registration) : null;
		this.#register.update(smallkey, stored);
	}

	#showVerdict(isGood: boolean, problems: readonly PlacedProblem[], warnings: readonly string[]): void {
		const { texts, lang } = this.#page;
		const odd = warnings.map((one) => placedProblem(one, lang));
		this.#verdict.classList.toggle("good", isGood);
		fill(
			this.#verdict,
			isGood && h("p", {}, texts.draftGood),
			problems.length > 0 && h("p", {}, texts.draftProblems(problems.length)),
			odd.length > 0 && h("p", { class: "note" }, texts.warnings),
			problemList(texts, isGood ? odd : problems),
		);
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
		const [en, fr] = [draftDrawable(rendered, "en"), draftDrawable(rendered, "fr")];
		this.#map?.close();
		this.#map = new MapPanel(this.#page, { en, fr });
		const isFeature = en?.kind === "features" || en?.kind === "dynamic";
		const both = h("section", {}, h("h2", {}, texts.both), bothLanguages(this.#page, { en, fr }));
		const share = copyButton(texts, texts.draftShare, () => location.href);
		fill(
			this.#result,
			h("div", { class: "twocolumns" }, this.#map.element, both),
			isFeature && h("p", { class: "hint" }, texts.draftSymbols),
			h("p", {}, share),
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

function indented(text: string): string {
	return JSON.stringify(JSON.parse(text), null, 2);
}
