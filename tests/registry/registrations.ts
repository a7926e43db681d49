import fc from "fast-check";
import type { LangEntry, LangNode, Registration1, Registration2 } from "../../registry/registration.ts";

const anyText = fc.string({ unit: "grapheme", maxLength: 40 });

const text = anyText.filter((one) => !/<[A-Za-z/!]/.test(one));
const serviceName = text.filter(
	(one) => one === "" || (/[^\p{C}\p{Z}\p{DI}\u2800]/u.test(one) && !/\p{Cc}/u.test(one)),
);
const name = text.filter((one) => one.length > 0);

const address = fc
	.tuple(
		fc.constantFrom("https", "http", "HTTPS"),
		fc.domain(),
		fc.webPath({ size: "small" }),
		fc.option(fc.webQueryParameters({ size: "small" })),
	)
	.map(([scheme, host, path, query]) => `${scheme}://${host}${path}${query === null ? "" : `?${query}`}`);

const mime = fc.constantFrom("image/png", "image/svg+xml", "text/html", "text/plain; charset=utf-8");

const metadata = fc.oneof(
	fc.record({ uuid: name }),
	fc.record({ metadata_url: address }),
	fc.record({ catalogue_url: address }),
	fc.record({ metadata_url: address, catalogue_url: address }),
);

const loadingMode = fc.constantFrom("ondemand" as const, "snapshot" as const);
const offset = fc.nat();

function members<T extends object, K extends keyof T>(
	model: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
	required: K[],
): fc.Arbitrary<Partial<T> & Pick<T, K>> {
	return fc
		.tuple(
			fc.record(model, { requiredKeys: required }),
			fc.shuffledSubarray(Object.keys(model), { minLength: Object.keys(model).length }),
		)
		.map(([value, order]) => {
			const present = order.filter((one) => Object.hasOwn(value, one));
			return Object.fromEntries(present.map((one) => [one, value[one as K]])) as Partial<T> & Pick<T, K>;
		});
}

const common = { service_url: address, service_name: serviceName, metadata };

const wmsEntry: fc.Arbitrary<LangEntry> = members(
	{ ...common, layer: name, legend_format: mime, feature_info_type: mime, loading_mode: loadingMode },
	["service_url", "layer"],
);

const featureEntry: fc.Arbitrary<LangEntry> = members(
	{
		...common,
		display_field: text,
		legend_format: mime,
		loading_mode: loadingMode,
		max_allowable_offset: offset,
	},
	["service_url"],
);

const version1 = fc.oneof(
	fc.constantFrom("1.1", "1.2"),
	fc.tuple(fc.nat(), fc.nat()).map(([minor, patch]) => `1.${minor}.${patch}`),
);

function registrationOf(
	payload_type: Registration1["payload_type"],
	entry: fc.Arbitrary<LangEntry>,
	override: fc.Arbitrary<object>,
): fc.Arbitrary<Registration1> {
	const targets = fc.record({
		v2: fc.oneof(
			fc.record({ en: override }),
			fc.record({ fr: override }),
			fc.record({ en: override, fr: override }),
		),
	});
	return members(
		{ version: version1, payload_type: fc.constant(payload_type), en: entry, fr: entry, targets },
		["version", "payload_type", "en", "fr"],
	);
}

export const registrations1: fc.Arbitrary<Registration1> = fc.oneof(
	registrationOf("wms", wmsEntry, fc.oneof(fc.record({ service_url: address }), fc.record({ layer: name }))),
	registrationOf("feature", featureEntry, fc.record({ service_url: address })),
);

function layersOf<T>(entry: fc.Arbitrary<T>) {
	const scrape_only = fc.array(entry, { minLength: 1, maxLength: 4 });
	return fc.oneof(
		fc.record({ scrape_only }),
		fc.record({ recursive: fc.constant(true) }),
		fc.record({ recursive: fc.boolean(), scrape_only }),
	);
}

const node: fc.Arbitrary<LangNode> = fc.oneof(
	members(
		{
			service_type: fc.constant("esriFeature" as const),
			...common,
			display_field: text,
			loading_mode: loadingMode,
			max_allowable_offset: offset,
			tolerance: offset,
		},
		["service_type", "service_url"],
	),
	members({ service_type: fc.constantFrom("esriTile" as const, "esriImage" as const), ...common }, [
		"service_type",
		"service_url",
	]),
	fc
		.tuple(
			members(
				{
					service_type: fc.constantFrom("ogcWms" as const, "ogcWmts" as const),
					...common,
					legend_format: mime,
					feature_info_format: fc.constantFrom(
						"text/html;fgpv=summary" as const,
						"text/html" as const,
						"text/plain" as const,
						"application/json" as const,
					),
				},
				["service_type", "service_url"],
			),
			layersOf(name),
		)
		.map(([one, layers]) => ({ ...one, ...layers })),
	fc
		.tuple(
			members(
				{ service_type: fc.constantFrom("esriMapServer" as const, "esriFeatureServer" as const), ...common },
				["service_type", "service_url"],
			),
			layersOf(offset),
		)
		.map(([one, layers]) => ({ ...one, ...layers })),
);

export const registrations2: fc.Arbitrary<Registration2> = members(
	{ version: fc.constant("2.0" as const), en: node, fr: node },
	["version", "en", "fr"],
);
