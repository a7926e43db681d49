import { html, nothing, type TemplateResult } from "lit-html";
import {
	type HealthGroup,
	type HealthReport,
	healthReportPath,
	parseHealthReport,
	type SickLayer,
} from "../../registry/health.ts";
import { causeOf } from "../search/entry.ts";
import { breakable, type Content } from "./dom.ts";
import { lookButton, readDrawable } from "./drawables.ts";
import {
	currentState,
	lang,
	readFile,
	refresh,
	stateLink,
	stateText,
	texts,
	type View,
	weekText,
} from "./page.ts";

/** Opens the view of sick layers, grouped by owner and host. */
export function openHealth(): View {
	const controller = new AbortController();
	/** Null if there is none; undefined while it is being read. */
	let report: HealthReport | null | undefined;
	void readFile(healthReportPath, "revalidated", controller.signal)
		.catch(() => null)
		.then((text) => {
			report = text === null ? null : parseHealthReport(text);
			if (!controller.signal.aborted) refresh();
		});
	return {
		title: texts.healthTitle,
		content: () => html`<div class="health">
			<h1 tabindex="-1">${texts.healthTitle}</h1>
			<p>${texts.healthIntro}</p>
			<div>${report !== undefined ? reportText(report, controller.signal) : ""}</div>
		</div>`,
		close: () => controller.abort(),
	};
}

function reportText(report: HealthReport | null, signal: AbortSignal): TemplateResult {
	if (!report) return html`<p role="status">${texts.healthMissing}</p>`;
	const { checked, unchecked, sick, groups } = report;
	const said = [
		texts.healthChecked(checked),
		unchecked > 0 && texts.healthUnchecked(unchecked),
		checked > 0 && (sick > 0 ? texts.healthSick(sick) : texts.healthNone),
	];
	return html`<p role="status">${said.filter(Boolean).join(" ")}</p>
		${groups.map((group) => groupTable(group, signal))}`;
}

function groupTable({ owner, host, layers }: HealthGroup, signal: AbortSignal): TemplateResult {
	const heads = [texts.healthLayer, texts.healthState, texts.healthSince, texts.lookNow];
	return html`<table class="sick">
		<caption>${texts.healthOf(owner || texts.healthUnknown, layers.length)} – ${breakable(host)}</caption>
		<thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
		<tbody>${layers.map((layer) => row(layer, signal))}</tbody>
	</table>`;
}

function row(layer: SickLayer, signal: AbortSignal): TemplateResult {
	const { smallkey, state, since, cause, repair } = layer;
	const title = layer.title[lang] || smallkey;
	const open = { ...currentState(), page: "layers" as const, layer: smallkey };
	const drawable = () => readDrawable(smallkey, lang, signal, () => null);
	return html`<tr>
		<th scope="row">${stateLink(open, breakable(title))}</th>
		<td>${stateText(state)}${causeText(cause)}${repairText(repair)}</td>
		<td data-label=${texts.healthSince}>${weekText(since)}</td>
		<td>${lookButton(title, signal, drawable)}</td>
	</tr>`;
}

/** Why a layer is sick, below its state. */
export function causeText(cause = ""): Content {
	const { text, lang: own = nothing } = causeOf(cause, texts);
	return cause && html`<span class="block hint" lang=${own}>${breakable(text)}</span>`;
}

/** A note that a repair is proposed; empty if there is none. */
export function repairText(repair?: true): Content {
	return repair ? html`<span class="block">${texts.repairProposed}</span>` : "";
}
