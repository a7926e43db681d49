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

interface DrawnDraft {
	fragments: ReturnType<typeof draftFragments>;
	map: MapPanel;
}

const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

export function openDraftView(signal: AbortSignal): View {
	let key = "";
	let text = "";
	/** Ids of the fields that were left: only their problems are shown. `text`: all problems. */
	const left = new Set<string>();
	let checked = checkDraft(empty);
	let notice = "";
	let keyNote = "";
	let drawn: DrawnDraft | null = null;
	let lastSerial = 0;
	const changeLater = debounce(pauseMs, () => void change());
	const register = createRegisterPanel();
	const box = new AddressBox((registration, isTyped) => {
		left[isTyped ? "add" : "delete"]("text");
		setText(registration);
	});
	addEventListener("hashchange", () => void openAddress(), { signal });
	signal.addEventListener("abort", () => {
		lastSerial += 1;
		drawn?.map.close();
	});
	void openAddress();

	function content(): TemplateResult {
		const { registration } = checked;
		const problems = shownProblems();
		const smallkey = parseSmallkey(key);
		const form = draftForm(() => text, problems, setText);
		const draft = smallkey !== null && registration && { smallkey, text: canonicalText(registration) };
		return html`<div class="draft" @focusout=${leave}>
			<h1 tabindex="-1">${t("try-draft")}</h1>
			<p>${t("draft-stays")}</p>
			${box.content()}
			<div>${notice && warning(notice)}</div>
			<div class="twocolumns">
				<div class="draftfields">
					${form.titles}
					${keyField(smallkey)}
					${verdict(checked, problems)}
					<details><summary>${t("addresses-and-layers")}</summary>${form.rest}</details>
					<details><summary>${t("whole-registration")}</summary>${textField(problems.length > 0)}</details>
				</div>
				<div class="result">${drawn?.map.element ?? ""}</div>
			</div>
			${draft ? register.content(draft) : html`<p class="hint">${t("incomplete")}</p>`}
			${drawn ? draftResult(drawn.fragments) : ""}
		</div>`;
	}

	function keyField(smallkey: string | null): TemplateResult {
		const isWrong = key !== "" && smallkey === null && left.has("key");
		const control = html`<input type="text" id="key" autocomplete="off" spellcheck="false" maxlength="64"
			aria-describedby="keynote" aria-invalid=${isWrong} .value=${live(key)} @input=${input} @change=${change}>`;
		const note = html`<p class="hint" id="keynote" role="status">${keyNote}</p>`;
		return field("key", t("smallkey"), control, note);
	}

	function textField(isWrong: boolean): TemplateResult {
		const control = html`<textarea id="text" rows="16" spellcheck="false" autocomplete="off" autocapitalize="off"
			aria-describedby="verdict" aria-invalid=${left.has("text") && isWrong}
			.value=${live(text)} @input=${input} @change=${change}></textarea>`;
		return field("text", t("registration-json"), control);
	}

	function input(event: Event): void {
		const { id, value } = event.currentTarget as HTMLInputElement;
		if (id === "key") key = value;
		else text = value;
		changeLater();
	}

	function setText(newText: string): void {
		text = newText;
		void change();
	}

	function leave({ target }: Event): void {
		left.add((target as HTMLElement).id);
		// A field that a render removes loses the focus in the middle of it.
		queueMicrotask(refresh);
	}

	function shownProblems() {
		if (left.has("text")) return checked.problems;
		return checked.problems.filter(({ pointer }) => left.has(pointer.slice(1).replace("/", "-")));
	}

	async function openAddress(): Promise<void> {
		const link = /^#draft=(.*)$/s.exec(location.hash)?.[1];
		if (link === undefined && text !== "") return;
		const draft = link === undefined ? { smallkey: "", text: empty } : await unpackDraft(link);
		if (signal.aborted) return;
		notice = draft ? "" : t("draft-unread");
		key = draft?.smallkey ?? "";
		text = draft?.text ?? empty;
		if (draft !== null && link !== undefined) left.add("text");
		check();
	}

	async function change(): Promise<void> {
		if (signal.aborted) return;
		notice = "";
		check();
		const serial = lastSerial;
		if (text.length > maxRegistrationBytes) return;
		const link = await packDraft({ smallkey: key, text });
		if (serial !== lastSerial) return;
		history.replaceState(null, "", `#draft=${link}`);
		// The link to the other language contains the draft.
		refresh();
	}

	function check(): void {
		lastSerial += 1;
		checked = checkDraft(text);
		void judgeKey(lastSerial);
		const before = drawn;
		drawn = draw();
		if (before !== drawn) before?.map.close();
		refresh();
		if (before !== drawn) drawn?.map.open();
	}

	function draw(): DrawnDraft | null {
		const { registration } = checked;
		if (!registration) return null;
		const fragments = draftFragments(registration, parseSmallkey(key) ?? "draft");
		if (JSON.stringify(fragments) === JSON.stringify(drawn?.fragments)) return drawn;
		const map = mapPanel({ en: draftDrawable(fragments, "en"), fr: draftDrawable(fragments, "fr") });
		return { fragments, map };
	}

	async function judgeKey(serial: number): Promise<void> {
		const smallkey = parseSmallkey(key);
		const isKnown = smallkey !== null && (await catalogue.find(smallkey).catch(() => null)) !== null;
		if (serial !== lastSerial) return;
		keyNote = t(smallkey === null ? "key-rule" : isKnown ? "key-taken" : "key-free");
		refresh();
	}

	return { title: t("try-draft"), content };
}
