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
import { currentState, readFile, refresh, stateLink, type View } from "./page.ts";
import { layers as count, lang, plural, stateText, t, weekText } from "./texts.ts";

/** Opens the view of sick layers, grouped by owner and host. */
export function openHealth(signal: AbortSignal): View {
	/** Null if there is none; undefined while it is being read. */
	let report: HealthReport | null | undefined;
	void readFile(healthReportPath, "no-cache", signal)
		.catch(() => null)
		.then((text) => {
			report = text === null ? null : parseHealthReport(text);
			if (!signal.aborted) refresh();
		});
	return {
		title: t("Health of the layers"),
		content: () => html`<div class="health">
			<h1 tabindex="-1">${t("Health of the layers")}</h1>
			<p>${t("Each service is asked once a week as a viewer would ask it. “Check now” asks it from your browser.")}</p>
			<div>${report !== undefined ? reportText(report, signal) : ""}</div>
		</div>`,
	};
}

function reportText(report: HealthReport | null, signal: AbortSignal): TemplateResult {
	if (!report) return html`<p role="status">${t("There is no report of health here.")}</p>`;
	const { checked, unchecked, sick, groups } = report;
	const said = [
		plural(checked, "{0} layer was checked.", "{0} layers were checked."),
		unchecked > 0 && plural(unchecked, "{0} layer was not checked yet.", "{0} layers were not checked yet."),
		checked > 0 &&
			(sick > 0
				? plural(sick, "{0} layer has a problem:", "{0} layers have a problem:")
				: `${t("No problem was seen")}.`),
	];
	return html`<p role="status">${said.filter(Boolean).join(" ")}</p>
		${groups.map((group) => groupTable(group, signal))}`;
}

function groupTable({ owner, host, layers }: HealthGroup, signal: AbortSignal): TemplateResult {
	const heads = [t("Layer"), t("What was seen"), t("Since the week of"), t("Check now")];
	return html`<table class="sick">
		<caption>${t("Who can correct it: {0} ({1})", owner || t("owner not named"), count(layers.length))} – ${breakable(host)}</caption>
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
		<td data-label=${t("Since the week of")}>${weekText(since)}</td>
		<td>${lookButton(title, signal, drawable)}</td>
	</tr>`;
}

/** Why a layer is sick, below its state. */
export function causeText(cause = ""): Content {
	const { text, lang: own = nothing } = causeOf(cause, t);
	return cause && html`<span class="block hint" lang=${own}>${breakable(text)}</span>`;
}

/** A note that a repair is proposed; empty if there is none. */
export function repairText(repair?: true): Content {
	return repair ? html`<span class="block">${t("A repair is proposed.")}</span>` : "";
}
