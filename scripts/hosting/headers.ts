import { fragmentHeaders } from "../../api/read.ts";
import { langs } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/names.ts";
import { targetOf } from "../../registry/targets/table.ts";
import { headersFile } from "./files.ts";

/** What a static host is told. */
export interface StaticHost {
	targets: readonly TargetName[];
	/** The folder of the build. */
	root: string;
	/** Where it listens. */
	port: number;
}

/** How long a browser remembers that it may read, in seconds. */
const preflightSeconds = 86_400;
/** What a host sends with what is not there: a fresh registration is not hidden for long. */
const missingCaching = "public, max-age=5";

/** Answers a preflight, beside `Access-Control-Allow-Origin`. */
const preflightHeaders = {
	"Access-Control-Allow-Methods": "GET, HEAD",
	"Access-Control-Allow-Headers": "*, Authorization",
	"Access-Control-Max-Age": String(preflightSeconds),
};

/** Headers of every answer, and those of files that are there. */
const { "Content-Type": contentType, "Cache-Control": caching, ...always } = fragmentHeaders;

/** A regular expression for the paths of fragments. */
function pathsOf(targets: readonly TargetName[]): string {
	const folders = targets.map((name) => targetOf(name).doc.replaceAll(".", "\\."));
	return `^/(?:${folders.join("|")})/(?:${langs.join("|")})/`;
}

/** Lines of headers, each as `write` says it. */
function lines(
	headers: Readonly<Record<string, string>>,
	write: (name: string, value: string) => string,
): string {
	return Object.entries(headers)
		.map(([name, value]) => `${write(name, value)}\n`)
		.join("");
}

function nginx({ targets, root, port }: StaticHost): string {
	return `server {
	listen ${port};
	root ${root};
	location ~ "${pathsOf(targets)}" {
		types { }
		default_type "${contentType}";
${lines(always, (name, value) => `		add_header ${name} "${value}" always;`)}		add_header Cache-Control "${caching}";
		if ($request_method = OPTIONS) {
			add_header Access-Control-Allow-Origin "*";
${lines(preflightHeaders, (name, value) => `			add_header ${name} "${value}";`)}			return 204;
		}
	}
}
`;
}

function apache({ targets, root, port }: StaticHost): string {
	return `# a2enmod headers rewrite
<VirtualHost *:${port}>
	DocumentRoot "${root}"
	<Directory "${root}">
		Require all granted
		Options None
	</Directory>
	<LocationMatch "${pathsOf(targets)}">
		ForceType "${contentType}"
${lines(always, (name, value) => `		Header always set ${name} "${value}"`)}		Header set Cache-Control "${caching}" "expr=%{REQUEST_STATUS} in {'200', '304'}"
		Header always set Cache-Control "${missingCaching}" "expr=%{REQUEST_STATUS} == '404'"
${lines(preflightHeaders, (name, value) => `		Header always set ${name} "${value}" "expr=%{REQUEST_METHOD} == 'OPTIONS'"`)}	</LocationMatch>
	RewriteEngine On
	RewriteCond %{REQUEST_METHOD} =OPTIONS
	RewriteRule "${pathsOf(targets)}" - [R=204,L]
</VirtualHost>
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
	handle {
		header @fragments {
			Content-Type "${contentType}"
			Cache-Control "${caching}"
		}
		file_server
	}
	handle_errors {
${lines(always, (name, value) => `		header ${name} "${value}"`)}		header Cache-Control "${missingCaching}"
		respond "" {http.error.status_code}
	}
}
`;
}

/** What Amazon's command line takes, each as a file of its own. */
function cloudfront({ root }: StaticHost): string {
	const list = (items: string[]) => ({ Quantity: items.length, Items: items });
	const policy = {
		Name: "fragments",
		CorsConfig: {
			AccessControlAllowOrigins: list(["*"]),
			AccessControlAllowHeaders: list(["*"]),
			AccessControlAllowMethods: list(["GET", "HEAD"]),
			AccessControlExposeHeaders: list(fragmentHeaders["Access-Control-Expose-Headers"].split(", ")),
			AccessControlAllowCredentials: false,
			AccessControlMaxAgeSec: preflightSeconds,
			OriginOverride: true,
		},
		SecurityHeadersConfig: { ContentTypeOptions: { Override: true } },
	};
	const cors = {
		CORSRules: [
			{
				AllowedOrigins: ["*"],
				AllowedMethods: ["GET", "HEAD"],
				AllowedHeaders: ["*"],
				MaxAgeSeconds: preflightSeconds,
			},
		],
	};
	return `# the files, with the headers that each object keeps
aws s3 sync ${root} s3://BUCKET --delete --exclude '_*' --exclude '.*' --exclude '*.json' \\
  --content-type '${contentType}' --cache-control '${caching}'
# a browser's preflight is the bucket's to answer
aws s3api put-bucket-cors --bucket BUCKET --cors-configuration '${JSON.stringify(cors)}'
# the rest is added by CloudFront: name the policy in the distribution's behaviour, with OPTIONS among its methods
aws cloudfront create-response-headers-policy --response-headers-policy-config '${JSON.stringify(policy)}'
`;
}

/** What each static host has to be told, for the files of a build. */
export const staticHosts = {
	_headers: ({ targets }: StaticHost) => headersFile(targets, true),
	nginx,
	apache,
	caddy,
	cloudfront,
} as const satisfies Record<string, (host: StaticHost) => string>;

/** Name of a static host. */
export type StaticHostName = keyof typeof staticHosts;
