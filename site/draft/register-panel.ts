import { copyBox } from "../page/copy.ts";
import { fill, h, newId } from "../page/dom.ts";
import { type Page, stateLink } from "../page/page.ts";
import { placedProblem } from "./problems.ts";
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
		this.#sender.id = newId();
		this.#secret.id = newId();
		this.#sender.addEventListener("input", () => this.#showCurl());
		const senderField = h(
			"div",
			{ class: "field" },
			h("label", { for: this.#sender.id }, texts.draftSender),
			this.#sender,
		);
		this.element = h(
			"section",
			{ hidden: true, class: "register" },
			h("h2", {}, texts.draftDo),
			senderField,
			settings.canSend &&
				h(
					"form",
					{ onsubmit: (event) => void this.#send(event) },
					h("h3", {}, texts.draftSend),
					h("p", { class: "hint" }, texts.draftSendHint),
					h("div", { class: "field" }, h("label", { for: this.#secret.id }, texts.draftSecret), this.#secret),
					h("button", { type: "submit", class: "primary" }, texts.draftSendButton),
				),
			this.#answer,
			this.#proposal,
			h("h3", {}, texts.draftCurl),
			h("p", { class: "hint" }, texts.draftCurlHint),
			this.#curl,
		);
	}

	/** @param text the registration in the form that is stored; null while it is not in order */
	update(
		smallkey: string | null,
		text: string | null,
		proposal: { address: string; isWhole: boolean } | null,
	): void {
		const { texts, root } = this.#page;
		this.element.hidden = smallkey === null || text === null;
		if (smallkey === null || text === null) {
			this.#draft = null;
			return;
		}
		this.#draft = { address: new URL(`register/${smallkey}`, root), smallkey, text };
		this.#showCurl();
		fill(
			this.#proposal,
			proposal && h("h3", {}, texts.draftPropose),
			proposal && h("p", {}, h("a", { href: proposal.address, rel: "noopener" }, texts.draftProposeLink)),
			proposal && !proposal.isWhole && h("p", { class: "hint" }, texts.draftProposeLong),
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
		const { texts, lang } = this.#page;
		const list = (items: string[]) =>
			items.length > 0 &&
			h(
				"ul",
				{},
				items.map((item) => {
					const { pointer, ...said } = placedProblem(item, lang);
					const place = pointer === "" ? "" : `${pointer}${texts.colon} `;
					return h("li", {}, place, h("span", { lang: said.lang }, said.text));
				}),
			);
		if (status < 200 || status >= 300) {
			return fill(this.#answer, h("p", { class: "bad" }, texts.draftRefused(status)), list(errors));
		}
		const { catalogue } = this.#page;
		catalogue.renew();
		// The fragments are there at once, the catalogue within a second.
		setTimeout(() => catalogue.renew(), catalogueDelayMs);
		fill(
			this.#answer,
			h("p", { class: "good" }, texts.draftSent(status)),
			isReviewed && h("p", {}, texts.draftReview),
			!isReviewed &&
				h(
					"p",
					{},
					stateLink(this.#page, { ...this.#page.state(), page: "layers", layer: smallkey }, texts.draftOpen),
				),
			warnings.length > 0 && h("p", {}, texts.warnings),
			list(warnings),
		);
	}
}
