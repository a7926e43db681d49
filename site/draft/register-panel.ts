import { html, type TemplateResult } from "lit-html";
import { sign } from "../../api/senders.ts";
import type { Draft } from "../../registry/draft.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type Content, currentState, field, lang, refresh, root, settings, stateLink } from "../page/page.ts";
import { renewCatalogue } from "../search/loaded-catalogue.ts";
import { type PlacedProblem, problemList, t } from "./check.ts";

const maxAddressLength = 7_500;

export function createRegisterPanel() {
	let answer: Content = "";

	function content(draft: Draft): TemplateResult {
		const sender = html`<input id="sender" autocomplete="off" spellcheck="false" maxlength="64" required>`;
		const secret = html`<input type="password" id="secret" autocomplete="off" required>`;
		const form = html`<form @submit=${(event: Event) => void send(event, draft)}>
			${field("sender", t("sender-id"), sender)}${field("secret", t("secret"), secret)}
			<p class="hint">${t("secret-hint")}</p>
			<button type="submit" class="primary">${t("sign-and-send")}</button>
		</form>`;
		return html`<section class="register">
			<h2>${t("register")}</h2>
			${settings.canSend ? form : ""}
			<div class="answer" role="status">${answer}</div>
			<h3>${t("without-secret")}</h3>
			${withoutSecret(draft)}
		</section>`;
	}

	async function send(event: Event, { smallkey, text }: Draft): Promise<void> {
		event.preventDefault();
		const textOf = (id: string) => (document.getElementById(id) as HTMLInputElement).value;
		answer = t("asking-service");
		refresh();
		const address = new URL(`register/${smallkey}`, root);
		answer = await sendSigned(address, textOf("sender").trim(), textOf("secret"), text).then(
			(answer) => answerContent(answer, smallkey),
			() => html`<p class="bad">${t("site-silent")}</p>`,
		);
		refresh();
	}

	return { content };
}

function withoutSecret({ smallkey, text }: Draft): TemplateResult {
	const path = layerPath(smallkey);
	const file = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
	return html`<p><a href=${file} download=${`${smallkey}.json`}>${t("save-file")}</a>
		<span class="hint"><code>${path}</code></span></p>
		${proposal(path, text)}`;
}

/** Empty without a repository, and for a registration that is too long for an address. */
function proposal(path: string, text: string): Content {
	const { repository, branch } = settings;
	const address = `${repository}/new/${branch}?${new URLSearchParams({ filename: path, value: text })}`;
	if (repository === "" || address.length > maxAddressLength) return "";
	return html`<p><a href=${address} rel="noopener">${t("open-github")}</a></p>`;
}

function answerContent(
	{ status, errors, warnings, isReviewed }: Awaited<ReturnType<typeof sendSigned>>,
	smallkey: string,
): TemplateResult {
	if (status < 200 || status >= 300)
		return html`<p class="bad">${t("refused", status)}</p>${problemList(errors)}`;
	renewCatalogue();
	const state = { ...currentState(), page: "layers" as const, layer: smallkey };
	const next = isReviewed ? t("needs-review") : stateLink(state, t("open-layer"));
	return html`<p class="good">${t("accepted", status)}</p>
		<p>${next}</p>
		${warnings.length > 0 ? html`<p>${t("worth-knowing")}</p>` : ""}${problemList(warnings)}`;
}

async function sendSigned(address: URL, sender: string, secret: string, body: string) {
	const timestamp = new Date().toISOString();
	const signed = { path: address.pathname, sender, timestamp, body: new TextEncoder().encode(body) };
	const response = await fetch(address, {
		method: "PUT",
		body,
		headers: {
			Authorization: await sign(secret, signed),
			TimeStamp: timestamp,
			Sender: sender,
			"Content-Type": "application/json",
			// That of the page may differ from the browser's.
			"Accept-Language": lang,
		},
		credentials: "omit",
	});
	const answer = ((await response.json().catch(() => null)) ?? {}) as Record<string, unknown>;
	// A proxy may answer in place of the service.
	const problemsOf = (value: unknown): PlacedProblem[] =>
		(Array.isArray(value) ? value : []).map((text) => ({ pointer: "", text: String(text) }));
	return {
		// A receipt has a member `status`, too: the address of the layer's status.
		status: response.status,
		errors: problemsOf(answer.errors),
		warnings: problemsOf(answer.warnings),
		/** Whether a reviewer has to approve the registration first. */
		isReviewed: answer.branch !== undefined || answer.pull_request !== undefined,
	};
}
