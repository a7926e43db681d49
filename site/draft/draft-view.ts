import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { packDraft, unpackDraft } from "../../registry/draft.ts";
import { canonicalText, maxRegistrationBytes } from "../../registry/registration.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { debounce, field, warning } from "../page/dom.ts";
import { type Drawables, type MapPanel, mapPanel } from "../page/drawables.ts";
import { lang, refresh, type View } from "../page/page.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { AddressBox } from "./address-box.ts";
import { checkDraft, draftDrawable, draftFragments, draftResult, t, verdict } from "./check.ts";
import { draftForm, empty, example, fileChoice, isInForm } from "./form.ts";
import { newKeyProblem, proposeKey } from "./proposals.ts";
import { nextBar, RegisterPanel } from "./register-panel.ts";

const pauseMs = 250;

interface DrawnDraft {
	fragments: ReturnType<typeof draftFragments>;
	drawables: Drawables;
	map: MapPanel;
}

const undrawn = { fragments: [], drawables: { en: null, fr: null }, map: null };

export class DraftView implements View {
	readonly title = t("try-draft");
	readonly #register = new RegisterPanel((globs) => this.#proposeKey(globs));
	readonly #box = new AddressBox(this.#fill.bind(this), this.#open.bind(this));
	#key = "";
	/** Another proposal replaces it, but not a typed key. */
	#proposed = "";
	#text = "";
	#formText = empty;
	/** Ids of the fields that were left: only their problems are shown. `text`: all problems. */
	#left = new Set<string>();
	#checked = checkDraft(empty);
	#notice = "";
	#keyNote = "";
	#drawn: DrawnDraft | null = null;
	#serial = 0;
	readonly #checkLater = debounce(pauseMs, () => this.#onChange());

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
		const problems = this.#shownProblems();
		const smallkey = parseSmallkey(this.#key);
		const files = fileChoice(
			(file) => void this.#openFile(file),
			() => this.#setText(example),
		);
		const form = draftForm(
			() => this.#formText,
			!isInForm(this.#text),
			problems,
			(text) => this.#setText(text),
		);
		const draft = smallkey !== null && registration && { smallkey, text: canonicalText(registration) };
		const { fragments, drawables, map } = this.#drawn ?? undrawn;
		return html`<div class="draft" @focusout=${this.#onLeave} @dragover=${this.#onFileEvent} @dragleave=${this.#onFileEvent} @drop=${this.#onFileEvent} @paste=${this.#onFileEvent}>
			<h1 tabindex="-1">${t("try-draft")}</h1>
			<p>${t("draft-stays")}</p>
			${this.#box.content(files)}
			<div>${this.#notice && warning(this.#notice)}</div>
			<div class="twocolumns">
				<div class="draftfields">
					${form.titles}
					${this.#keyField(smallkey)}
					${verdict(this.#checked, problems)}
					<details><summary>${t("addresses-and-layers")}</summary>${form.rest}</details>
					<details><summary>${t("whole-registration")}</summary>${this.#textField(problems.length > 0)}</details>
				</div>
				<div class="result">${map?.element ?? html`<p class="hint place">${t("map-place")}</p>`}</div>
			</div>
			${draft ? this.#register.content(draft) : ""}
			<div ?hidden=${!this.#drawn}>${draftResult(fragments, drawables)}</div>
			${nextBar(this.#checked, problems.length, smallkey, this.#register)}
		</div>`;
	}

	#keyField(smallkey: string | null): TemplateResult {
		const isWrong = this.#key !== "" && smallkey === null && this.#left.has("key");
		const key = html`<input type="text" id="key" autocomplete="off" spellcheck="false" maxlength="64"
			aria-describedby="keynote" aria-invalid=${isWrong} .value=${live(this.#key)}
			@input=${this.#onInput} @change=${this.#onChange}>`;
		const note = html`<p class="hint" id="keynote" role="status">${this.#keyNote}</p>`;
		return field("key", t("smallkey"), key, note);
	}

	#textField(isWrong: boolean): TemplateResult {
		const text = html`<textarea id="text" rows="16" spellcheck="false" autocomplete="off" autocapitalize="off"
			aria-describedby="verdict" aria-invalid=${this.#left.has("text") && isWrong}
			.value=${live(this.#text)} @input=${this.#onInput} @change=${this.#onChange}></textarea>`;
		return field("text", t("registration-json"), text);
	}

	#setText(text: string): void {
		this.#text = text;
		void this.#onChange();
	}

	readonly #onLeave = ({ target }: Event): void => {
		this.#left.add((target as HTMLElement).id);
		// A field that a render removes loses the focus in the middle of it.
		queueMicrotask(() => void this.#judgeKey(this.#serial));
	};

	#shownProblems() {
		const { problems } = this.#checked;
		if (this.#left.has("text")) return problems;
		return problems.filter(({ pointer }) => this.#left.has(pointer.slice(1).replace("/", "-")));
	}

	#fill(text: string, title: string | undefined): void {
		this.#left.delete("text");
		this.#setText(text);
		void this.#proposeKey([], title);
	}

	/** Keeps a key that the user typed. @param globs of the smallkeys that the sender may use; empty: unknown */
	async #proposeKey(
		globs: readonly string[],
		title = this.#checked.registration?.en.service_name ?? "",
	): Promise<void> {
		if (title === "" || (globs.length === 0 && this.#key !== this.#proposed)) return;
		const isTaken = async (key: string) => (await catalogue.find(key).catch(() => null)) !== null;
		const key = await proposeKey(title, globs, isTaken);
		if (key === null || this.signal.aborted) return;
		[this.#key, this.#proposed] = [key, key];
		void this.#onChange();
	}

	#open(text: string): void {
		this.#left.add("text");
		this.#setText(text);
	}

	async #openAddress(): Promise<void> {
		const link = /^#draft=(.*)$/s.exec(location.hash)?.[1];
		if (link === undefined && this.#text !== "") return;
		const draft = link === undefined ? { smallkey: "", text: empty } : await unpackDraft(link);
		if (this.signal.aborted) return;
		this.#notice = draft ? "" : t("draft-unread");
		this.#key = draft?.smallkey ?? "";
		this.#text = draft?.text ?? empty;
		if (draft !== null && link !== undefined) this.#left.add("text");
		this.#check();
	}

	readonly #onInput = (event: Event): void => {
		const { id, value } = event.currentTarget as HTMLInputElement;
		if (id === "key") this.#key = value;
		else this.#text = value;
		this.#checkLater();
	};

	readonly #onFileEvent = (event: Event): void => {
		document.getElementById("text")?.classList.toggle("over", event.type === "dragover");
		const transfer =
			event instanceof DragEvent ? event.dataTransfer : (event as ClipboardEvent).clipboardData;
		const file = transfer?.files[0];
		if (event.type !== "paste" || file) event.preventDefault();
		if (file) void this.#openFile(file);
	};

	async #openFile(file: File): Promise<void> {
		const isLarge = file.size > maxRegistrationBytes;
		const text = isLarge ? null : await file.text().catch(() => null);
		if (text === null) {
			this.#notice = isLarge ? t("file-large", maxRegistrationBytes) : t("file-unread");
			return refresh();
		}
		const [, name = ""] = /^(.+?)(?:\.service)?\.json$/.exec(file.name) ?? [];
		this.#key ||= parseSmallkey(name) ?? "";
		this.#open(text);
	}

	readonly #onChange = async (): Promise<void> => {
		if (this.signal.aborted) return;
		this.#notice = "";
		this.#check();
		const serial = this.#serial;
		if (this.#text.length > maxRegistrationBytes) return;
		const link = await packDraft({ smallkey: this.#key, text: this.#text });
		if (serial !== this.#serial) return;
		history.replaceState(null, "", `#draft=${link}`);
		// The link to the other language contains the draft.
		refresh();
	};

	#check(): void {
		this.#serial += 1;
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
		const rule = t("key-rule");
		const isShown = this.#key !== "" && this.#left.has("key");
		if (smallkey === null) this.#keyNote = isShown ? t("key-must-be", rule) : rule;
		else this.#keyNote = entry ? t("key-taken") : (newKeyProblem(smallkey, lang) ?? t("key-free"));
		refresh();
	}
}
