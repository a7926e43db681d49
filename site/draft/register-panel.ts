import { html, type TemplateResult } from "lit-html";
import type { Draft } from "../../registry/draft.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type Content, copyBox, field, textIn } from "../page/dom.ts";
import { currentState, refresh, root, settings, stateLink } from "../page/page.ts";
import { renewCatalogue } from "../search/loaded-catalogue.ts";
import { type checkDraft, curlCommand, plural, problemList, sendSigned, t } from "./check.ts";
import { allowedIn } from "./proposals.ts";

export function nextBar(
	{ registration, problems }: ReturnType<typeof checkDraft>,
	shown: number,
	smallkey: string | null,
	register: RegisterPanel,
): TemplateResult {
	const isValid = registration !== null;
	const missing = [
		!isValid && t("missing-address"),
		smallkey === null && t("missing-key"),
		...(isValid && smallkey !== null ? register.missing() : []),
	].filter(Boolean);
	const wrong = shown > 0 ? plural(problems.length, "problems") : t("incomplete");
	const next = !isValid ? "source" : smallkey === null ? "key" : register.nextId();
	const step = t(next === "source" || next === "key" ? `next-${next}` : "next-send");
	const go = () => document.getElementById(next)?.focus();
	return html`<div class="nextbar"><p role="status"><strong class=${isValid ? "good" : ""}>${isValid ? t("valid") : wrong}</strong>
		${missing.length > 0 ? html`${t("missing")} ${missing.join(", ")}.` : ""}</p>
		<button type="button" @click=${go}>${t("next", step)}</button></div>`;
}

/** Time after which the service's catalogue contains a sent registration, in milliseconds. */
const catalogueDelayMs = 1_500;

const maxAddressLength = 7_500;

export class RegisterPanel {
	#sender = "";
	#hasSecret = false;
	#answer: Content = "";

	/** @param proposeKey gets the globs of a refusal that names them */
	constructor(readonly proposeKey: (globs: readonly string[]) => Promise<void>) {}

	missing(): (string | false)[] {
		if (!settings.canSend) return [];
		return [!this.#sender.trim() && t("missing-sender"), !this.#hasSecret && t("missing-secret")];
	}

	nextId(): string {
		if (!settings.canSend) return "filesave";
		return this.#sender.trim() === "" ? "sender" : this.#hasSecret ? "send" : "secret";
	}

	content(draft: Draft): TemplateResult {
		const address = new URL(`register/${draft.smallkey}`, root);
		const command = curlCommand(address, this.#sender || "publisher", draft.text);
		const input = (event: Event) => {
			this.#sender = textIn(event);
			refresh();
		};
		const typeSecret = (event: Event) => {
			this.#hasSecret = textIn(event) !== "";
			refresh();
		};
		const sender = html`<input id="sender" autocomplete="off" spellcheck="false" maxlength="64" @input=${input}>`;
		const secret = html`<input type="password" id="secret" autocomplete="off" @input=${typeSecret}>`;
		const form = html`<form @submit=${(event: Event) => void this.#send(event, address, draft)}>
			${field("sender", t("sender-id"), sender)}${field("secret", t("secret"), secret)}
			<p class="hint">${t("secret-hint")}</p>
			<button type="submit" id="send" class="primary">${t("sign-and-send")}</button>
		</form>`;
		return html`<section class="register">
			<h2>${t("register")}</h2>
			${settings.canSend ? form : ""}
			<div class="answer" role="status">${this.#answer}</div>
			<details ?open=${!settings.canSend}><summary>${t("without-secret")}</summary>
				${withoutSecret(draft)}${this.#proposal(draft)}
			</details>
			<details><summary>${t("curl-command")}</summary>
				<p class="hint">${t("curl-hint")}</p>
				<div>${copyBox(t("curl-command"), command)}</div>
			</details>
		</section>`;
	}

	#proposal({ smallkey, text }: Draft): Content {
		const { repository, branch } = settings;
		if (repository === "") return "";
		const address = new URL(`${repository}/new/${branch}`);
		address.search = `${new URLSearchParams({ filename: layerPath(smallkey), value: text })}`;
		const isWhole = address.href.length <= maxAddressLength;
		if (!isWhole) address.searchParams.delete("value");
		return html`<h3>${t("pull-request")}</h3>
			<p><a href=${address} rel="noopener">${t("open-github")}</a></p>
			${isWhole ? "" : html`<p class="hint">${t("long-address")}</p>`}`;
	}

	async #send(event: Event, address: URL, { smallkey, text }: Draft): Promise<void> {
		event.preventDefault();
		const inputs = ["sender", "secret"].map((id) => document.getElementById(id) as HTMLInputElement);
		const empty = inputs.find(({ value }) => value.trim() === "");
		if (empty) return empty.focus();
		const [sender = "", secret = ""] = inputs.map(({ value }) => value);
		this.#answer = t("sending");
		refresh();
		this.#answer = await sendSigned(address, sender.trim(), secret, text).then(
			async (answer) => {
				const globs = answer.status === 403 ? allowedIn(answer.errors) : [];
				if (globs.length === 0) return answerContent(answer, smallkey);
				await this.proposeKey(globs);
				return html`${answerContent(answer, smallkey)}
					<p>${t("other-key")}</p>`;
			},
			() => html`<p class="bad">${t("service-silent")}</p>`,
		);
		refresh();
	}
}

function withoutSecret({ smallkey, text }: Draft): TemplateResult {
	const path = layerPath(smallkey);
	const file = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
	return html`<p><a id="filesave" href=${file} download=${`${smallkey}.json`}>${t("save-file")}</a>
		<span class="hint"><code>${path}</code></span></p>
		<p>${contactLink(smallkey, path, text)}</p>`;
}

function contactLink(smallkey: string, path: string, text: string): TemplateResult {
	const { contact } = settings;
	if (contact.includes("://")) return html`<a href=${contact}>${t("contact-operator")}</a>`;
	const body = `${t("mail-body")}\r\n\r\n${path}\r\n\r\n${text}\r\n${location.href}`;
	const query = new URLSearchParams({ subject: t("mail-subject", smallkey), body });
	const mail = `mailto:${contact}?${`${query}`.replaceAll("+", "%20")}`;
	return html`<a href=${mail}>${t("mail-operator")}</a>`;
}

function answerContent(
	{ status, errors, warnings, isReviewed }: Awaited<ReturnType<typeof sendSigned>>,
	smallkey: string,
): TemplateResult {
	if (status < 200 || status >= 300)
		return html`<p class="bad">${t("refused", status)}</p>${problemList(errors)}`;
	renewCatalogue();
	// The fragments are published at once, the catalogue within a second.
	setTimeout(() => renewCatalogue(), catalogueDelayMs);
	const state = { ...currentState(), page: "layers" as const, layer: smallkey };
	const next = isReviewed ? t("needs-review") : stateLink(state, t("open-layer"));
	return html`<p class="good">${t("accepted", status)}</p>
		<p>${next}</p>
		${warnings.length > 0 ? html`<p>${t("worth-knowing")}</p>` : ""}${problemList(warnings)}`;
}
