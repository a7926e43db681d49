import { html } from "lit-html";
import { sign } from "../../api/signature.ts";
import type { Draft } from "../../registry/draft.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { type Content, field, stateLink } from "../page/elements.ts";
import { lang, now, refresh, root, settings } from "../page/page.ts";
import { currentState } from "../page/state.ts";
import { renewCatalogue } from "../search/loaded-catalogue.ts";
import { renderProblems, t } from "./checked-draft.ts";

const maxAddressLength = 7_500;

export class RegisterPanel {
	#answer: Content = "";

	content(draft: Draft) {
		const sender = html`<input id="sender" autocomplete="off" spellcheck="false" maxlength="64" required>`;
		const secret = html`<input type="password" id="secret" autocomplete="off" required>`;
		const form = html`<form @submit=${(event: Event) => void this.#send(event, draft)}>
			${field("sender", t("sender-id"), sender)}${field("secret", t("secret"), secret)}
			<p class="hint">${t("secret-hint")}</p>
			<button type="submit" class="primary">${t("sign-and-send")}</button>
		</form>`;
		return html`<section class="register">
			<h2>${t("register")}</h2>
			${settings.canSend ? form : ""}
			<div class="answer" role="status">${this.#answer}</div>
			<h3>${t("without-secret")}</h3>
			${renderFile(draft)}${renderProposal(draft)}
		</section>`;
	}

	async #send(event: Event, draft: Draft) {
		event.preventDefault();
		const textOf = (id: string) => (document.getElementById(id) as HTMLInputElement).value;
		this.#show(t("asking-service"));
		const answer = await sendDraft(draft, textOf("sender").trim(), textOf("secret")).catch(() => null);
		if (answer?.isAccepted) renewCatalogue();
		this.#show(answer ? renderAnswer(answer, draft.smallkey) : html`<p class="bad">${t("site-silent")}</p>`);
	}

	#show(answer: Content) {
		this.#answer = answer;
		refresh();
	}
}

function renderFile({ smallkey, text }: Draft) {
	const file = `data:application/json;charset=utf-8,${encodeURIComponent(text)}`;
	return html`<p><a href=${file} download=${`${smallkey}.json`}>${t("save-file")}</a>
		<span class="hint"><code>${layerPath(smallkey)}</code></span></p>`;
}

/** Empty without a repository, or if the address would be too long. */
function renderProposal({ smallkey, text }: Draft): Content {
	const { repository, branch } = settings;
	const query = new URLSearchParams({ filename: layerPath(smallkey), value: text });
	const address = `${repository}/new/${branch}?${query}`;
	if (repository === "" || address.length > maxAddressLength) return "";
	return html`<p><a href=${address} rel="noopener">${t("open-github")}</a></p>`;
}

type Answer = Awaited<ReturnType<typeof sendDraft>>;

/** A service may wait for git or GitHub. */
const timeoutMs = 120_000;

async function sendDraft({ smallkey, text: body }: Draft, sender: string, secret: string) {
	const address = new URL(`register/${smallkey}`, root);
	const timestamp = now().toISOString();
	const signed = { path: address.pathname, sender, timestamp, body: new TextEncoder().encode(body) };
	const response = await fetch(address, {
		method: "PUT",
		body,
		headers: {
			Authorization: await sign(secret, signed),
			TimeStamp: timestamp,
			Sender: sender,
			"Content-Type": "application/json",
			// The page's language may differ from the browser's.
			"Accept-Language": lang,
		},
		credentials: "omit",
		signal: AbortSignal.timeout(timeoutMs),
	});
	const answer = ((await response.json().catch(() => null)) ?? {}) as Record<string, unknown>;
	return {
		// In a receipt, `status` is the address of the layer's status.
		status: response.status,
		isAccepted: response.ok,
		errors: problemsIn(answer.errors),
		warnings: problemsIn(answer.warnings),
		isReviewed: answer.branch !== undefined || answer.pull_request !== undefined,
	};
}

/** Empty for anything but a list: a proxy may answer in place of the service. */
function problemsIn(value: unknown) {
	return (Array.isArray(value) ? value : []).map((text) => ({ pointer: "", text: String(text) }));
}

function renderAnswer({ status, isAccepted, errors, warnings, isReviewed }: Answer, smallkey: string) {
	if (!isAccepted) return html`<p class="bad">${t("refused", status)}</p>${renderProblems(errors)}`;
	const state = { ...currentState(), page: "layers" as const, layer: smallkey };
	const next = isReviewed ? t("needs-review") : stateLink(state, t("open-layer"));
	return html`<p class="good">${t("accepted", status)}</p>
		<p>${next}</p>
		${warnings.length > 0 ? html`<p>${t("worth-knowing")}</p>` : ""}${renderProblems(warnings)}`;
}
