import { fragmentHeaders, preflightHeaders, refusalCaching } from "../../api/reply.ts";
import { langs } from "../../registry/smallkey.ts";
import { targetOf } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { headersFile } from "../../site/build/files.ts";
import { layerPages } from "../../site/data/entries.ts";
import { pageTypes, patternOf, type SiteGroup, siteGroups } from "../../site/http/site-headers.ts";

/** The input of a static host's configuration. */
interface StaticHost {
	targets: readonly TargetName[];
	/** The folder of the build. */
	root: string;
	/** The port on which the host listens. */
	port: number;
}

/** How long a browser caches a preflight, in seconds. */
const preflightSeconds = Number(preflightHeaders["Access-Control-Max-Age"]);

/** `always`: headers of every answer. The others: headers of existing files only. */
const { "Content-Type": contentType, "Cache-Control": caching, ...always } = fragmentHeaders;

/** A regular expression for the paths of fragments. */
function pathsOf(targets: readonly TargetName[]): string {
	const folders = targets.map((name) => targetOf(name).doc.replaceAll(".", "\\."));
	return `^/(?:${folders.join("|")})/(?:${langs.join("|")})/`;
}

/** A regular expression for the addresses of layers' pages. Their files end in .html. */
const pagesOfLayers = `^/(?:${langs.join("|")})/(?:${layerPages.join("|")})/[A-Za-z0-9_+=-]+$`;

/** Writes each header as a line. */
function lines(headers: SiteGroup["headers"], write: (name: string, value: string) => string): string {
	const all = Object.entries(headers).map(([name, value]) => `${write(name, value)}\n`);
	return all.join("");
}

function nginx({ targets, root, port }: StaticHost): string {
	return `server {
	listen ${port};
	root ${root};
	types {
${lines(pageTypes, (ending, type) => `		"${type}" ${ending};`)}	}
	location ~ "${pathsOf(targets)}" {
		types { }
		default_type "${contentType}";
${lines(always, (name, value) => `		add_header ${name} "${value}" always;`)}		add_header Cache-Control "${caching}";
		if ($request_method = OPTIONS) {
			add_header Access-Control-Allow-Origin "*";
${lines(preflightHeaders, (name, value) => `			add_header ${name} "${value}";`)}			return 204;
		}
	}
	location ~ "${pagesOfLayers}" {
		rewrite ^(.*)$ $1.html last;
	}
${siteGroups.map(nginxGroup).join("")}}
`;
}

function nginxGroup(group: SiteGroup): string {
	return `	location ~ "${patternOf(group)}" {
${lines(group.headers, (name, value) => `		add_header ${name} "${value}";`)}	}
`;
}

function apache({ targets, root, port }: StaticHost): string {
	return `# a2enmod headers rewrite
<VirtualHost *:${port}>
	DocumentRoot "${root}"
	<Directory "${root}">
		Require all granted
		Options None
${lines(pageTypes, (ending, type) => `		AddType "${type}" .${ending}`)}	</Directory>
	<LocationMatch "${pathsOf(targets)}">
		ForceType "${contentType}"
${lines(always, (name, value) => `		Header always set ${name} "${value}"`)}		Header set Cache-Control "${caching}" "expr=%{REQUEST_STATUS} in {'200', '304'}"
		Header always set Cache-Control "${refusalCaching}" "expr=%{REQUEST_STATUS} == '404'"
${lines(preflightHeaders, (name, value) => `		Header always set ${name} "${value}" "expr=%{REQUEST_METHOD} == 'OPTIONS'"`)}	</LocationMatch>
${siteGroups.map(apacheGroup).join("")}	# The tag of a compressed copy ends with -gzip or -br, and only the tag of the file is compared.
	RequestHeader edit* If-None-Match '-(?:gzip|br)"' '"'
	RewriteEngine On
	RewriteCond %{REQUEST_METHOD} =OPTIONS
	RewriteRule "${pathsOf(targets)}" - [R=204,L]
	RewriteRule "${pagesOfLayers}" "%{REQUEST_URI}.html" [PT]
</VirtualHost>
`;
}

function apacheGroup(group: SiteGroup): string {
	return `	<LocationMatch "${patternOf(group)}">
${lines(group.headers, (name, value) => `		Header set ${name} "${value}" "expr=%{REQUEST_STATUS} in {'200', '304'}"`)}	</LocationMatch>
`;
}

function caddy({ targets, root, port }: StaticHost): string {
	return `:${port} {
	root * "${root}"
	@fragments path_regexp ${pathsOf(targets)}
	@preflight {
		method OPTIONS
		path_regexp ${pathsOf(targets)}
	}
	header @fragments {
${lines(always, (name, value) => `		${name} "${value}"`)}	}
	handle @preflight {
		header {
${lines(preflightHeaders, (name, value) => `			${name} "${value}"`)}		}
		respond 204
	}
	@layers path_regexp ${pagesOfLayers}
	rewrite @layers {path}.html
	handle {
		header @fragments {
			Content-Type "${contentType}"
			Cache-Control "${caching}"
		}
${siteGroups.map(caddyGroup).join("")}${lines(
	pageTypes,
	(ending, type) => `		@${ending} path *.${ending}
		header @${ending} Content-Type "${type}"`,
)}		file_server
	}
	handle_errors {
${lines(always, (name, value) => `		header ${name} "${value}"`)}		header Cache-Control "${refusalCaching}"
		respond "" {http.error.status_code}
	}
}
`;
}

function caddyGroup(group: SiteGroup): string {
	return `		@${group.name} path_regexp ${patternOf(group)}
		header @${group.name} {
${lines(group.headers, (name, value) => `			${name} "${value}"`)}		}
`;
}

/** JSON for use between single quotes of a shell. */
function shellJson(value: object): string {
	return JSON.stringify(value).replaceAll("'", "\\u0027");
}

/** The commands of Amazon's command line that upload a build and set its headers. */
function cloudfront({ targets, root }: StaticHost): string {
	/** Synchronizes some paths. A later filter wins (AWS CLI, "Use of Exclude and Include Filters"). */
	const sync = (paths: readonly string[], words: string) => {
		const filters = ["--exclude '*'", ...paths.map((path) => `--include '${path}'`)];
		const copies = ["--exclude '*.gz'", "--exclude '*.br'"];
		return `aws s3 sync ${root} s3://BUCKET --delete ${[...filters, ...copies].join(" ")} \\\n  ${words}`;
	};
	const folders = targets.map((name) => `${targetOf(name).doc}/*`);
	const uploads = siteGroups.map(({ paths, headers }) => {
		const caching = `--cache-control '${headers["Cache-Control"]}'`;
		return sync(
			paths.map((path) => path.slice(1)),
			caching,
		);
	});
	const [any, methods] = [["*"], ["GET", "HEAD"]];
	const rule = { AllowedOrigins: any, AllowedMethods: methods, AllowedHeaders: any };
	const cors = { CORSRules: [{ ...rule, MaxAgeSeconds: preflightSeconds }] };
	const list = (items: string[]) => ({ Quantity: items.length, Items: items });
	const own = { Override: true };
	const policy = {
		Name: "fragments",
		CorsConfig: {
			AccessControlAllowOrigins: list(any),
			AccessControlAllowHeaders: list(any),
			AccessControlAllowMethods: list(methods),
			AccessControlExposeHeaders: list(fragmentHeaders["Access-Control-Expose-Headers"].split(", ")),
			AccessControlAllowCredentials: false,
			AccessControlMaxAgeSec: preflightSeconds,
			OriginOverride: true,
		},
		SecurityHeadersConfig: { ContentTypeOptions: own },
	};
	const pages = siteGroups.find(({ name }) => name === "pages");
	const { "Content-Security-Policy": content, "Referrer-Policy": referrer } = pages?.headers ?? {};
	const pagesPolicy = {
		Name: "fragments-pages",
		SecurityHeadersConfig: {
			ContentSecurityPolicy: { ...own, ContentSecurityPolicy: content },
			ReferrerPolicy: { ...own, ReferrerPolicy: referrer },
			ContentTypeOptions: own,
		},
	};
	const create = "aws cloudfront create-response-headers-policy --response-headers-policy-config";
	return `# the files, with the headers of each object; the endings of the catalogue's files give their types
${sync(folders, `--content-type '${contentType}' --cache-control '${caching}'`)}
${uploads.join("\n")}
# the bucket answers the preflight requests of browsers
aws s3api put-bucket-cors --bucket BUCKET --cors-configuration '${shellJson(cors)}'
# CloudFront adds the other headers: name the policy in the distribution's behaviour, with OPTIONS among its methods
${create} '${shellJson(policy)}'
# the catalogue's pages are read by people, at their own site only: for the behaviours of ${pages?.paths.join(" ")}
${create} '${shellJson(pagesPolicy)}'
# CloudFront serves no folder: its default root object is index.html, and the address of a page is /en/index.html
`;
}

/** The configuration of each static host for a build's files. */
export const staticHosts = {
	_headers: ({ targets }: StaticHost) => headersFile(targets, true),
	nginx,
	apache,
	caddy,
	cloudfront,
} as const satisfies Record<string, (host: StaticHost) => string>;

/** Name of a static host. */
export type StaticHostName = keyof typeof staticHosts;
