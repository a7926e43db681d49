import { layerPath } from "../../registry/smallkey.ts";
import { copyBox } from "../page/copy.ts";
import { field, fill, h } from "../page/dom.ts";
import { type Page, stateLink } from "../page/page.ts";
import type { SiteSettings } from "../page/settings.ts";
import { placedProblem, problemList } from "./problems.ts";
import { curlCommand, type Receipt, sendSigned } from "./send.ts";

/** After so long the service's catalogue has what was sent, in milliseconds. */
const catalogueDelayMs = 1_500;

/** The ways to register a draft: a signed command, sent from here, or as a pull request. */
export class RegisterPanel {
	readonly #page: Page;
	readonly #sender = h("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: "64" });
	readonly #secret = h("input", { type: "password", autocomplete: "off" });
	readonly #curl = h("div");
	readonly #answer = h("div", { class: "answer", role: "status" });
	readonly #proposal = h("div");
	readonly element: HTMLElement;
	#draft: { address: URL; smallkey: string; text: string } | null = null;

	constructor(page: Page) {
		this.#page = page;
		const { texts, settings } = page;
		this.#sender.addEventListener("input", () => this.#showCurl());
		const form = h(
			"form",
			{ onsubmit: (event) => void this.#send(event) },
			h("h3", {}, texts.draftSend),
			h("p", { class: "hint" }, texts.draftSendHint),
			field(texts.draftSecret, this.#secret),
			h("button", { type: "submit", class: "primary" }, texts.draftSendButton),
		);
		this.element = h(
			"section",
			{ hidden: true, class: "register" },
			h("h2", {}, texts.draftDo),
			field(texts.draftSender, this.#sender),
			settings.canSend && form,
			this.#answer,
			this.#proposal,
			h("h3", {}, texts.draftCurl),
			h("p", { class: "hint" }, texts.draftCurlHint),
			this.#curl,
		);
	}

	/** @param text the registration in the form that is stored; null while it is not in order */
	update(smallkey: string | null, text: string | null): void {
		const { root } = this.#page;
		const isReady = smallkey !== null && text !== null;
		this.element.hidden = !isReady;
		this.#draft = isReady ? { address: new URL(`register/${smallkey}`, root), smallkey, text } : null;
		if (!isReady) return;
		this.#showCurl();
		this.#showProposal(smallkey, text);
	}

	#showProposal(smallkey: string, text: string): void {
		const { texts, settings } = this.#page;
		if (settings.repository === "") return;
		const { address, isWhole } = proposalOf(settings, smallkey, text);
		fill(
			this.#proposal,
			h("h3", {}, texts.draftPropose),
			h("p", {}, h("a", { href: address, rel: "noopener" }, texts.draftProposeLink)),
			!isWhole && h("p", { class: "hint" }, texts.draftProposeLong),
		);
	}

	#showCurl(): void {
		if (!this.#draft) return;
		const { address, text } = this.#draft;
		const command = curlCommand(address, this.#sender.value || "publisher", text);
		fill(this.#curl, copyBox(this.#page.texts, this.#page.texts.draftCurl, command));
	}

	async #send(event: Event): Promise<void> {
		event.preventDefault();
		const { texts } = this.#page;
		const draft = this.#draft;
		const [sender, secret] = [this.#sender.value.trim(), this.#secret.value];
		if (!draft || sender === "" || secret === "")
			return (sender === "" ? this.#sender : this.#secret).focus();
		fill(this.#answer, texts.draftSending);
		try {
			this.#show(
				await sendSigned(draft.address, sender, secret, draft.text, this.#page.now()),
				draft.smallkey,
			);
		} catch {
			fill(this.#answer, h("p", { class: "bad" }, texts.draftSendFailed));
		}
	}

	#show({ status, errors, warnings, isReviewed }: Receipt, smallkey: string): void {
		const { texts, lang, catalogue } = this.#page;
		const list = (items: string[]) =>
			problemList(
				texts,
				items.map((item) => placedProblem(item, lang)),
			);
		if (status < 200 || status >= 300) {
			return fill(this.#answer, h("p", { class: "bad" }, texts.draftRefused(status)), list(errors));
		}
		catalogue.renew();
		// The fragments are there at once, the catalogue within a second.
		setTimeout(() => catalogue.renew(), catalogueDelayMs);
		const state = { ...this.#page.state(), page: "layers" as const, layer: smallkey };
		fill(
			this.#answer,
			h("p", { class: "good" }, texts.draftSent(status)),
			h("p", {}, isReviewed ? texts.draftReview : stateLink(this.#page, state, texts.draftOpen)),
			warnings.length > 0 && h("p", {}, texts.warnings),
			list(warnings),
		);
	}
}

/** Longest address that GitHub is given a file's content in, in characters. */
const maxLength = 7_500;

/**
 * GitHub's page of a new file, with a registration as its content unless that is too long.
 * @param text in the form that is stored
 */
function proposalOf({ repository, branch }: SiteSettings, smallkey: string, text: string) {
	const parameters = new URLSearchParams({ filename: layerPath(smallkey) });
	const bare = `${repository}/new/${branch}?${parameters}`;
	parameters.set("value", text);
	const whole = `${repository}/new/${branch}?${parameters}`;
	return whole.length > maxLength ? { address: bare, isWhole: false } : { address: whole, isWhole: true };
}
