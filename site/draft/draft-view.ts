import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { packDraft, unpackDraft } from "../../registry/draft.ts";
import { canonicalText, maxRegistrationBytes } from "../../registry/registration.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { type MapPanel, mapPanel } from "../page/drawables.ts";
import { debounce, field, refresh, type View, warning } from "../page/page.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { AddressBox } from "./address-box.ts";
import {
	checkDraft,
	createRegisterPanel,
	draftDrawable,
	draftForm,
	draftFragments,
	draftResult,
	t,
	verdict,
} from "./parts.ts";

const pauseMs = 250;

const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

export class DraftView implements View {
	readonly title = t("try-draft");
	#key = "";
	#text = "";
	/** Ids of the fields that were left: only their problems are shown. `text`: all problems. */
	readonly #left = new Set<string>();
	#checked = checkDraft(empty);
	#notice = "";
	#keyNote = "";
	#fragments: ReturnType<typeof draftFragments> | null = null;
	#map: MapPanel | null = null;
	readonly #register = createRegisterPanel();
	readonly #box = new AddressBox((registration, isTyped) => {
		this.#left[isTyped ? "add" : "delete"]("text");
		this.#setText(registration);
	});

	constructor(readonly signal: AbortSignal) {
		addEventListener("hashchange", () => void this.#openAddress(), { signal });
		signal.addEventListener("abort", () => this.#map?.close());
		void this.#openAddress();
	}

	content(): TemplateResult {
		const checked = this.#checked;
		const left = this.#left;
		const problems = checked.problems.filter(
			({ pointer }) => left.has("text") || left.has(pointer.slice(1).replace("/", "-")),
		);
		const smallkey = parseSmallkey(this.#key);
		const form = draftForm(() => this.#text, problems, this.#setText);
		const draft = smallkey && checked.registration && { smallkey, text: canonicalText(checked.registration) };
		return html`<div class="draft" @focusout=${this.#leave}>
			<h1 tabindex="-1">${this.title}</h1>
			<p>${t("draft-stays")}</p>
			${this.#box.content()}
			<div>${this.#notice && warning(this.#notice)}</div>
			<div class="twocolumns">
				<div class="draftfields">
					${form.titles}
					${this.#keyField(smallkey)}
					${verdict(checked, problems)}
					<details><summary>${t("addresses-and-layers")}</summary>${form.rest}</details>
					<details><summary>${t("whole-registration")}</summary>${this.#textField(problems.length > 0)}</details>
				</div>
				<div class="result">${this.#map?.element ?? ""}</div>
			</div>
			${draft ? this.#register.content(draft) : html`<p class="hint">${t("incomplete")}</p>`}
			${this.#fragments ? draftResult(this.#fragments) : ""}
		</div>`;
	}

	#keyField(smallkey: string | null): TemplateResult {
		const isWrong = this.#key !== "" && smallkey === null && this.#left.has("key");
		const control = html`<input type="text" id="key" autocomplete="off" spellcheck="false" maxlength="64"
			aria-describedby="keynote" aria-invalid=${isWrong}
			.value=${live(this.#key)} @input=${this.#input} @change=${this.#change}>`;
		const note = html`<p class="hint" id="keynote" role="status">${this.#keyNote}</p>`;
		return field("key", t("smallkey"), control, note);
	}

	#textField(isWrong: boolean): TemplateResult {
		const control = html`<textarea id="text" rows="16" spellcheck="false" autocomplete="off" autocapitalize="off"
			aria-describedby="verdict" aria-invalid=${this.#left.has("text") && isWrong}
			.value=${live(this.#text)} @input=${this.#input} @change=${this.#change}></textarea>`;
		return field("text", t("registration-json"), control);
	}

	readonly #input = ({ currentTarget }: Event) => {
		const { id, value } = currentTarget as HTMLInputElement;
		if (id === "key") this.#key = value;
		else this.#text = value;
		this.#changeLater();
	};

	readonly #setText = (text: string) => {
		this.#text = text;
		void this.#change();
	};

	readonly #leave = ({ target }: Event) => {
		this.#left.add((target as HTMLElement).id);
		// A field that a render removes loses the focus in the middle of it.
		queueMicrotask(refresh);
	};

	async #openAddress(): Promise<void> {
		const link = /^#draft=(.*)$/s.exec(location.hash)?.[1];
		if (link === undefined && this.#text !== "") return;
		const draft = link === undefined ? { smallkey: "", text: empty } : await unpackDraft(link);
		if (this.signal.aborted) return;
		this.#notice = draft ? "" : t("draft-unread");
		this.#key = draft?.smallkey ?? "";
		this.#text = draft?.text ?? empty;
		if (draft && link !== undefined) this.#left.add("text");
		this.#check();
	}

	readonly #change = async () => {
		if (this.signal.aborted) return;
		this.#notice = "";
		this.#check();
		const checked = this.#checked;
		if (this.#text.length > maxRegistrationBytes) return;
		const link = await packDraft({ smallkey: this.#key, text: this.#text });
		if (this.#isOld(checked)) return;
		history.replaceState(null, "", `#draft=${link}`);
		// The link to the other language contains the draft.
		refresh();
	};

	readonly #changeLater = debounce(pauseMs, this.#change);

	#check(): void {
		this.#checked = checkDraft(this.#text);
		void this.#judgeKey();
		const { registration } = this.#checked;
		const fragments = registration && draftFragments(registration, parseSmallkey(this.#key) ?? "draft");
		if (JSON.stringify(fragments) === JSON.stringify(this.#fragments)) return refresh();
		this.#map?.close();
		this.#fragments = fragments;
		this.#map =
			fragments && mapPanel({ en: draftDrawable(fragments, "en"), fr: draftDrawable(fragments, "fr") });
		refresh();
		this.#map?.open();
	}

	#isOld(checked: ReturnType<typeof checkDraft>): boolean {
		return this.signal.aborted || checked !== this.#checked;
	}

	async #judgeKey(): Promise<void> {
		const checked = this.#checked;
		const smallkey = parseSmallkey(this.#key);
		const isKnown = smallkey !== null && (await catalogue.find(smallkey).catch(() => null)) !== null;
		if (this.#isOld(checked)) return;
		this.#keyNote = t(smallkey === null ? "key-rule" : isKnown ? "key-taken" : "key-free");
		refresh();
	}
}
