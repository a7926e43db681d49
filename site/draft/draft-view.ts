import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type Draft, draftHash, readDraft } from "../../registry/draft.ts";
import { canonicalText } from "../../registry/registration.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { debounce, field, warning } from "../page/elements.ts";
import { MapPanel } from "../page/map-panel.ts";
import { refresh } from "../page/page.ts";
import type { View } from "../page/state.ts";
import { AddressBox } from "./address-box.ts";
import {
	checkDraft,
	checkKey,
	type DraftFragments,
	type DraftProblem,
	draftDrawable,
	draftFragments,
	renderFragments,
	renderVerdict,
	t,
} from "./checked-draft.ts";
import { DraftForm } from "./draft-form.ts";
import { RegisterPanel } from "./register-panel.ts";

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
	/** Ids: only their problems are shown. `text`: all problems. */
	readonly #leftFields = new Set<string>();
	#checked = checkDraft(empty);
	#checkedKey = { isRefused: false, note: "" };
	#notice = "";
	#fragments: DraftFragments | null = null;
	#map: MapPanel | null = null;
	readonly #form = new DraftForm(
		() => this.#text,
		(text) => this.#setText(text),
	);
	readonly #registerPanel = new RegisterPanel();
	readonly #addressBox = new AddressBox((registration, source) => {
		if (source === "user") this.#leftFields.add("text");
		else this.#leftFields.delete("text");
		this.#setText(registration);
	});

	constructor(readonly signal: AbortSignal) {
		addEventListener("hashchange", () => this.#openAddress(), { signal });
		signal.addEventListener("abort", () => this.#map?.close());
		this.#openAddress();
	}

	content() {
		const checked = this.#checked;
		const problems = this.#shownProblems();
		const draft = this.#completeDraft();
		return html`<div class="draft" @focusout=${this.#leave}>
			<h1 tabindex="-1">${this.title}</h1>
			<p>${t("draft-stays")}</p>
			${this.#addressBox.content()}
			<div>${this.#notice && warning(this.#notice)}</div>
			<div class="twocolumns">
				<div class="draftfields">
					${this.#form.titles(problems)}
					${this.#keyField()}
					${renderVerdict(checked, problems)}
					<details><summary>${t("addresses-and-layers")}</summary>${this.#form.addresses(problems)}</details>
					<details><summary>${t("whole-registration")}</summary>${this.#textField(problems.length > 0)}</details>
				</div>
				<div class="result">${this.#map?.element ?? ""}</div>
			</div>
			${draft ? this.#registerPanel.content(draft) : html`<p class="hint">${t("incomplete")}</p>`}
			${this.#fragments ? renderFragments(this.#fragments) : ""}
		</div>`;
	}

	#shownProblems(): DraftProblem[] {
		const left = this.#leftFields;
		return this.#checked.problems.filter(
			({ pointer }) => left.has("text") || left.has(pointer.slice(1).replace("/", "-")),
		);
	}

	#completeDraft(): Draft | null {
		const { registration } = this.#checked;
		const smallkey = this.#checkedKey.isRefused ? null : parseSmallkey(this.#key);
		return smallkey && registration ? { smallkey, text: canonicalText(registration) } : null;
	}

	#keyField() {
		const { isRefused, note } = this.#checkedKey;
		const control = html`<input type="text" id="key" autocomplete="off" spellcheck="false" maxlength="64"
			aria-describedby="keynote" aria-invalid=${isRefused && this.#leftFields.has("key")}
			.value=${live(this.#key)} @input=${this.#input} @change=${this.#change}>`;
		return field("key", t("smallkey"), control, html`<p class="hint" id="keynote" role="status">${note}</p>`);
	}

	#textField(isWrong: boolean) {
		const control = html`<textarea id="text" rows="16" spellcheck="false" autocomplete="off" autocapitalize="off"
			aria-describedby="verdict" aria-invalid=${this.#leftFields.has("text") && isWrong}
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
		this.#change();
	};

	readonly #leave = ({ target }: Event) => {
		this.#leftFields.add((target as HTMLElement).id);
		// A field that a render removes loses the focus in the middle of it.
		queueMicrotask(refresh);
	};

	#openAddress() {
		const { hash } = location;
		const isDraft = hash.startsWith("#draft=");
		if (!isDraft && this.#text !== "") return;
		const draft = isDraft ? readDraft(hash) : { smallkey: "", text: empty };
		this.#notice = draft ? "" : t("draft-unread");
		this.#key = draft?.smallkey ?? "";
		this.#text = draft?.text ?? empty;
		if (draft && isDraft) this.#leftFields.add("text");
		this.#check();
	}

	readonly #change = () => {
		if (this.signal.aborted) return;
		this.#notice = "";
		const hash = draftHash({ smallkey: this.#key, text: this.#text });
		// The link to the other language contains the draft.
		if (hash !== "") history.replaceState(null, "", hash);
		this.#check();
	};

	readonly #changeLater = debounce(pauseMs, this.#change);

	#check() {
		this.#checked = checkDraft(this.#text);
		void this.#noteKey();
		const { registration } = this.#checked;
		const fragments = registration && draftFragments(registration, parseSmallkey(this.#key) ?? "draft");
		if (JSON.stringify(fragments) === JSON.stringify(this.#fragments)) return refresh();
		this.#map?.close();
		this.#fragments = fragments;
		this.#map =
			fragments && new MapPanel({ en: draftDrawable(fragments, "en"), fr: draftDrawable(fragments, "fr") });
		refresh();
		void this.#map?.open();
	}

	async #noteKey() {
		const checked = this.#checked;
		const checkedKey = await checkKey(this.#key);
		if (this.signal.aborted || checked !== this.#checked) return;
		this.#checkedKey = checkedKey;
		refresh();
	}
}
