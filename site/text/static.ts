import { type Lang, langs } from "../../registry/smallkey.ts";
import { textsByLang } from "../../registry/texts/pairs.ts";
import type { SiteSettings } from "../static/page-settings.ts";
import { causes } from "./causes.ts";
import { pageTexts } from "./page-texts.ts";
import { translator } from "./translate.ts";

/** Texts of the pages without a script: English, French. */
export const staticTexts = textsByLang({
	"needs-script": [
		"Search and maps need JavaScript.",
		"La recherche et les cartes ont besoin de JavaScript.",
	],
	skip: ["Skip to the content", "Passer au contenu"],
	"main-menu": ["Main", "Principal"],
	layers: ["Layers", "Couches"],
	contact: ["Contact", "Contact"],
	terms: ["Terms of use", "Conditions d’utilisation"],
	"plain-list": ["Plain list", "Liste simple"],
	feed: ["Feed of changes", "Fil des modifications"],
	guide: ["Guide", "Guide"],
	"other-language": ["Français", "English"],
	"for-machines": ["Read by machines, too:", "Lisible aussi par les machines :"],
	index: ["index", "index"],
	"feed-title": ["Map layers: changes", "Couches cartographiques : modifications"],
	"feed-author": ["Map layer registrations", "Inscriptions de couches"],
	"layers-changed": ["{0} layers changed", "{0} couches modifiées"],
	changes: ["Changes", "Modifications"],
	"no-changes": ["No change is known here.", "Aucune modification n’est connue ici."],
	"kind-added": ["Added", "Ajoutée"],
	"kind-changed": ["Changed", "Modifiée"],
	"kind-removed": ["Removed", "Retirée"],
	"layer-description": ["Map layer: {0} ({1})", "Couche cartographique : {0} ({1})"],
	"all-layers": ["All layers", "Toutes les couches"],
	"by-title": ["{0}, by title", "{0}, par titre"],
	pages: ["Pages", "Pages"],
	"no-page": ["This page does not exist", "Cette page n’existe pas"],
	building: ["The catalogue is being prepared", "Le catalogue est en préparation"],
	example: ["Example", "Exemple"],
	table: ["Table", "Tableau"],
});

export const textsIn = {
	en: { ...translator("en", { ...pageTexts.en, ...staticTexts.en }), causes: causes.en },
	fr: { ...translator("fr", { ...pageTexts.fr, ...staticTexts.fr }), causes: causes.fr },
};

type StaticText = keyof (typeof pageTexts)["en"] | keyof (typeof staticTexts)["en"];

/** A text in both languages, for what exists only once. */
export function inBoth(code: StaticText, ...values: readonly string[]): string {
	return langs.map((lang) => textsIn[lang].t(code, ...values)).join(" · ");
}

export function siteName({ name }: Pick<SiteSettings, "name">, lang: Lang): string {
	return name?.[lang] ?? textsIn[lang].t("map-layers");
}
