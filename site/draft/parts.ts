import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { sign } from "../../api/senders.ts";
import type { Draft } from "../../registry/draft.ts";
import { parseRegistration, type Registration, warningsOf } from "../../registry/registration.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { layerFacts } from "../../registry/targets/facts.ts";
import { renderAt } from "../../registry/targets/table.ts";
import { type Problem, textIn as problemTextIn } from "../../registry/texts.ts";
import { isObject, tryJson } from "../../registry/untrusted-text.ts";
import { type Drawable, drawableOf, drawnTargets } from "../map/drawable.ts";
import {
	type Content,
	copyBox,
	currentState,
	field,
	lang,
	now,
	pageTexts,
	refresh,
	root,
	settings,
	stateLink,
	textIn,
} from "../page/page.ts";
import { renewCatalogue } from "../search/loaded-catalogue.ts";
import { draftTexts } from "../text/drafts.ts";
import { translator } from "../text/translate.ts";

type PlacedProblem = ReturnType<typeof placedProblem>;

/** With its JSON pointer (RFC 6901); empty for the whole document. */
function placedProblem({ place, ...text }: Problem) {
	const pointer = place.startsWith("/") ? place : "";
	return { pointer, text: problemTextIn(lang, { ...text, place: pointer ? "" : place }) };
}

export const { t, plural } = translator(lang, { ...pageTexts, ...draftTexts[lang] });

export function draftResult(fragments: ReturnType<typeof draftFragments>): TemplateResult {
	const boxes = fragments.map(({ target, lang, text }) => {
		const shown = text === null ? t("no-form-here") : JSON.stringify(JSON.parse(text), null, 2);
		return copyBox(`${target}, ${lang}`, shown);
	});
	return html`<section class="result">
		<details><summary>${t("viewers-would-read")}</summary><div class="copies">${boxes}</div></details>
	</section>`;
}

/** Judges a draft by the rules of a PUT, except that of its smallkey. */
export function checkDraft(text: string) {
	const { registration, problems } = parseRegistration(new TextEncoder().encode(text), "written");
	return {
		registration,
		problems: problems.map(placedProblem),
		warnings: (registration ? warningsOf(registration) : []).map(placedProblem),
	};
}

function problemList(problems: readonly PlacedProblem[]): Content {
	const items = problems.map(({ pointer, text }) => {
		return html`<li>${pointer && html`<code>${pointer}</code>${t("colon")} `}${text}</li>`;
	});
	return items.length === 0 ? "" : html`<ul>${items}</ul>`;
}

export function verdict(
	{ registration, warnings }: ReturnType<typeof checkDraft>,
	problems: readonly PlacedProblem[],
): TemplateResult {
	const isGood = registration !== null;
	return html`<div id="verdict" class=${isGood ? "verdict good" : "verdict"} role="status">
		${isGood ? html`<p>${t("registration-good")}</p>` : ""}
		${problems.length > 0 ? html`<p>${plural(problems.length, "to-correct")}</p>` : ""}
		${warnings.length > 0 ? html`<p class="note">${t("worth-knowing")}</p>` : ""}
		${problemList(isGood ? warnings : problems)}
	</div>`;
}

export function draftFragments(registration: Registration, smallkey: string) {
	const facts = langs.map((lang) => layerFacts(lang, smallkey, registration, null, settings));
	return settings.targets.flatMap((target) =>
		facts.map((layer) => ({ target, lang: layer.lang, text: renderAt(target, layer) })),
	);
}

export function draftDrawable(fragments: ReturnType<typeof draftFragments>, lang: Lang): Drawable | null {
	const drawn = drawnTargets(settings.targets);
	return drawableOf(fragments.filter((of) => of.lang === lang && drawn.includes(of.target)));
}

/** A member of a language → its text. */
const fields = { service_url: "service-address", layer: "layer-in-service", service_name: "title" } as const;
type FieldName = keyof typeof fields;

/**
 * It changes the members that it shows, and keeps all others. It shows none of version 2.0.
 * @param text may change after the form was drawn
 */
export function draftForm(
	text: () => string,
	problems: readonly PlacedProblem[],
	change: (text: string) => void,
) {
	const drawn = tryJson(text());
	const isDisabled = !isObject(drawn) || drawn.version === "2.0";
	const write = (lang: Lang, name: FieldName, value: string) => {
		const document = membersOf(tryJson(text()));
		const isAbsent = name === "service_name" && value === "";
		const node = { ...membersOf(document[lang]), [name]: isAbsent ? undefined : value };
		change(`${JSON.stringify({ ...document, [lang]: node }, null, 2)}\n`);
	};
	const input = (lang: Lang, name: FieldName) => {
		const id = `${lang}-${name}`;
		const isWrong = problems.some(({ pointer }) => pointer === `/${lang}/${name}`);
		const value = membersOf(membersOf(drawn)[lang])[name];
		const control = html`<input type=${name === "service_url" ? "url" : "text"} id=${id} autocomplete="off"
			spellcheck="false" aria-describedby="verdict" aria-invalid=${isWrong}
			.value=${live(typeof value === "string" ? value : "")} @input=${(event: Event) => write(lang, name, textIn(event))}>`;
		return field(id, t(`in-${lang}`, t(fields[name])), control);
	};
	const isWms = membersOf(drawn).payload_type !== "feature";
	const shown: FieldName[] = isWms ? ["service_url", "layer"] : ["service_url"];
	return {
		titles: html`<fieldset class="titles" ?disabled=${isDisabled}>
			<legend class="hidden">${t("titles")}</legend>
			${langs.map((lang) => input(lang, "service_name"))}
			<p class="hint">${t("title-hint")}</p>
		</fieldset>`,
		rest: html`<fieldset class="form" ?disabled=${isDisabled}>
			<legend class="hidden">${t("addresses-and-layers")}</legend>
			${langs.map((lang) => shown.map((name) => input(lang, name)))}
		</fieldset>`,
	};
}

function membersOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

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
