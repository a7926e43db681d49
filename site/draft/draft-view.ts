import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { packDraft, unpackDraft } from "../../registry/draft.ts";
import { canonicalText, maxRegistrationBytes } from "../../registry/registration.ts";
import { type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { copyBox, copyButton, debounce, field, warning } from "../page/dom.ts";
import { bothLanguages, type Drawables, type MapPanel, mapPanel } from "../page/drawables.ts";
import { refresh, type View } from "../page/page.ts";
import { t } from "../page/texts.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { checkDraft, draftDrawable, draftFragments, verdict } from "./check.ts";
import { draftForm, isInForm } from "./form.ts";
import { RegisterPanel } from "./register-panel.ts";

/** Pause in typing after which the draft is checked, in milliseconds. */
const pauseMs = 250;

const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

/** One language of a layer that exists, to try and to change. */
const exampleIn = (lang: Lang, service_name: string) => ({
	service_url: `https://maps.geogratis.gc.ca/wms/canvec_${lang}`,
	layer: "hydro",
	service_name,
	legend_format: "image/png",
});

const example = canonicalText({
	version: "1.0.0",
	payload_type: "wms",
	en: exampleIn("en", "Rivers and lakes (CanVec)"),
	fr: exampleIn("fr", "Cours d’eau et lacs (CanVec)"),
});

/** A draft on the map. It is drawn again only if its fragments have changed. */
interface DrawnDraft {
	fragments: ReturnType<typeof draftFragments>;
	drawables: Drawables;
	map: MapPanel;
}

/** The page that checks and draws a registration before it is published. */
export class DraftView implements View {
	readonly title = t("Try a draft");
	readonly #register = new RegisterPanel();
	#key = "";
	#text = "";
	/** The newest text that the form can show. */
	#formText = empty;
	/** Whether the user has not changed the text yet; problems are hidden until then. */
	#isNew = true;
	#checked = checkDraft(empty);
	/** Why a file or the draft in the address could not be read; empty if there was no such problem. */
	#notice = "";
	#keyNote = "";
	/** Null while the registration is invalid. */
	#drawn: DrawnDraft | null = null;
	/** Whether the list of fragments is open. */
	#isOpen = matchMedia("(min-width: 64rem)").matches;
	/** Number of the newest check; what older checks have read is not shown. */
	#serial = 0;
	readonly #checkLater = debounce(pauseMs, () => this.#onChange());

	/** @param signal closes the view */
	constructor(readonly signal: AbortSignal) {
		addEventListener("hashchange", () => this.#openAddress(), { signal });
		signal.addEventListener("abort", () => {
			this.#serial += 1;
			this.#drawn?.map.close();
		});
		void this.#openAddress();
	}

	content(): TemplateResult {
		const { registration } = this.#checked;
		const problems = this.#isNew ? [] : this.#checked.problems;
		const smallkey = parseSmallkey(this.#key);
		const change = () => void this.#onChange();
		const key = html`<input type="text" id="key" autocomplete="off" spellcheck="false" maxlength="64"
			aria-describedby="keynote" aria-invalid=${this.#key !== "" && smallkey === null} .value=${live(this.#key)}
			@input=${this.#onInput} @change=${change}>`;
		const keyNote = html`<p class="hint" id="keynote" role="status">${this.#keyNote}</p>`;
		const text = html`<textarea id="text" rows="16" spellcheck="false" autocomplete="off" autocapitalize="off"
			aria-describedby="verdict" aria-invalid=${problems.length > 0}
			.value=${live(this.#text)} @input=${this.#onInput} @change=${change}></textarea>`;
		const changeText = (text: string) => {
			this.#text = text;
			change();
		};
		const pick = ({ currentTarget }: Event) => {
			const input = currentTarget as HTMLInputElement;
			const [file] = input.files ?? [];
			if (file) void this.#openFile(file);
			input.value = "";
		};
		const fileInput = html`<p class="hint">${t("Drop a JSON file here, or")} <label class="filelabel"><input type="file"
			accept=".json,application/json" class="hiddenfile" @change=${pick}><span>${t("choose one")}</span></label>.</p>`;
		const stored = registration && canonicalText(registration);
		return html`<div class="draft" @dragover=${this.#onFileEvent} @dragleave=${this.#onFileEvent} @drop=${this.#onFileEvent} @paste=${this.#onFileEvent}>
			<h1 tabindex="-1">${t("Try a draft")}</h1>
			<p>${t("A draft stays in this page and in its address: nothing is sent anywhere until you send it. Fill the form, or paste or drop a file.")}</p>
			<p><button @click=${() => changeText(example)}>${t("Load an example")}</button></p>
			<div>${this.#notice && warning(this.#notice)}</div>
			${field("key", t("Smallkey"), key, keyNote)}
			<div class="twocolumns">
				${draftForm(() => this.#formText, !isInForm(this.#text), problems, changeText)}
				${field("text", t("The registration (JSON)"), text, [fileInput, verdict(this.#checked, problems)])}
			</div>
			<div class="result">${this.#drawn && this.#result(this.#drawn)}</div>
			${smallkey !== null && stored !== null ? this.#register.content({ smallkey, text: stored }) : ""}
		</div>`;
	}

	/** Shows the draft in the address, at the start and whenever the address gets another draft. */
	async #openAddress(): Promise<void> {
		const link = /^#draft=(.*)$/s.exec(location.hash)?.[1];
		if (link === undefined && this.#text !== "") return;
		const draft = link === undefined ? { smallkey: "", text: empty } : await unpackDraft(link);
		if (this.signal.aborted) return;
		this.#notice = draft ? "" : t("The draft in the address could not be read: it is cut off, or no draft.");
		this.#key = draft?.smallkey ?? "";
		this.#text = draft?.text ?? empty;
		this.#check(draft === null || link === undefined);
	}

	/** Takes the value of a field. The draft is checked after a pause in typing. */
	readonly #onInput = (event: Event): void => {
		const { id, value } = event.currentTarget as HTMLInputElement;
		if (id === "key") this.#key = value;
		else this.#text = value;
		this.#checkLater();
	};

	/** Highlights the text field while a file is dragged over the page, and reads a dropped or pasted file. */
	readonly #onFileEvent = (event: Event): void => {
		document.getElementById("text")?.classList.toggle("over", event.type === "dragover");
		const transfer =
			event instanceof DragEvent ? event.dataTransfer : (event as ClipboardEvent).clipboardData;
		const file = transfer?.files[0];
		if (event.type !== "paste" || file) event.preventDefault();
		if (file) void this.#openFile(file);
	};

	/** Reads a file. If its name is that of a layer's file, it has the smallkey too. */
	async #openFile(file: File): Promise<void> {
		const isLarge = file.size > maxRegistrationBytes;
		const text = isLarge ? null : await file.text().catch(() => null);
		if (text === null) {
			const large = "The file is larger than {0} bytes, which no registration may be.";
			this.#notice = isLarge ? t(large, maxRegistrationBytes) : t("The file could not be read.");
			return refresh();
		}
		const [, name = ""] = /^(.+?)(?:\.service)?\.json$/.exec(file.name) ?? [];
		this.#key ||= parseSmallkey(name) ?? "";
		this.#text = text;
		void this.#onChange();
	}

	/** Checks a changed draft and writes it into the address. */
	async #onChange(): Promise<void> {
		if (this.signal.aborted) return;
		this.#notice = "";
		this.#check(false);
		const serial = this.#serial;
		if (this.#text.length > maxRegistrationBytes) return;
		const link = await packDraft({ smallkey: this.#key, text: this.#text });
		if (serial !== this.#serial) return;
		history.replaceState(null, "", `#draft=${link}`);
		// The link to the other language contains the draft.
		refresh();
	}

	#check(isNew: boolean): void {
		this.#serial += 1;
		this.#isNew = isNew;
		if (isInForm(this.#text)) this.#formText = this.#text;
		this.#checked = checkDraft(this.#text);
		void this.#judgeKey(this.#serial);
		const before = this.#drawn;
		this.#drawn = this.#draw();
		if (before !== this.#drawn) before?.map.close();
		refresh();
		if (before !== this.#drawn) this.#drawn?.map.open();
	}

	#draw(): DrawnDraft | null {
		const { registration } = this.#checked;
		if (!registration) return null;
		const fragments = draftFragments(registration, parseSmallkey(this.#key) ?? "draft");
		if (JSON.stringify(fragments) === JSON.stringify(this.#drawn?.fragments)) return this.#drawn;
		const drawables = { en: draftDrawable(fragments, "en"), fr: draftDrawable(fragments, "fr") };
		return { fragments, drawables, map: mapPanel(drawables) };
	}

	async #judgeKey(serial: number): Promise<void> {
		const smallkey = parseSmallkey(this.#key);
		const entry = smallkey === null ? null : await catalogue.find(smallkey).catch(() => null);
		if (serial !== this.#serial) return;
		const rule = t("1 to 64 of A-Z a-z 0-9 _ - + =");
		const wrong = this.#key === "" ? rule : t("The smallkey must be {0}", rule);
		const taken = "This smallkey is registered: sending the draft changes that layer.";
		this.#keyNote = smallkey === null ? wrong : t(entry ? taken : "This smallkey is free.");
		refresh();
	}

	#result({ fragments, drawables, map }: DrawnDraft): TemplateResult {
		const isFeature = drawables.en?.kind === "features" || drawables.en?.kind === "dynamic";
		const boxes = fragments.map(({ target, lang, text }) => {
			const shown = text === null ? null : JSON.stringify(JSON.parse(text), null, 2);
			return copyBox(`${target}, ${lang}`, shown ?? t("This layer cannot be expressed here."));
		});
		const toggle = ({ currentTarget }: Event) => {
			this.#isOpen = (currentTarget as HTMLDetailsElement).open;
		};
		return html`<div class="twocolumns">
				${map.element}
				<section><h2>${t("Both languages")}</h2>${bothLanguages(drawables)}</section>
			</div>
			${isFeature ? html`<p class="hint">${t("Symbols and fields are read from the service once the layer is registered.")}</p>` : ""}
			<p>${copyButton(t("Copy the draft’s address"), () => location.href)}</p>
			<details ?open=${this.#isOpen} @toggle=${toggle}>
				<summary>${t("What viewers would read")}</summary>
				<div class="copies">${boxes}</div>
			</details>`;
	}
}
