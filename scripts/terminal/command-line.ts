import { Command, type OptionValues } from "@commander-js/extra-typings";
import { CommanderError, InvalidArgumentError } from "commander";
import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import type { App, Run } from "../../api/service/extensions.ts";
import { isSenderId } from "../../registry/sender.ts";

/** As `diff` and `grep` do (POSIX, "Exit Status"). */
export const exitCodes = {
	done: 0,
	wrong: 1,
	unable: 2,
} as const;

interface Call {
	/** `--help` and wrong options end the command here. @returns the options, then the arguments */
	read<Args extends unknown[], Options extends OptionValues>(
		declare: (line: Command) => Command<Args, Options>,
	): Promise<[Options, ...Args]>;
	environment: Environment;
	io: Io;
	extensions: App["extensions"];
}

export function createRun(main: (call: Call) => Promise<number | undefined>): Run {
	return (argv, environment, io, { name, summary, extensions }) => {
		const read: Call["read"] = async (declare) => {
			const call = `npx fragment-publisher ${name}`;
			const line = withOutput(new Command(call), io)
				.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
				.helpOption("-h, --help", "print this")
				.helpCommand(false)
				.showHelpAfterError(`${call} --help lists the options`);
			const parsed = await declare(line).parseAsync(argv, { from: "user" });
			// An unset variable must not mean the current folder.
			if (parsed.args.includes(""))
				throw new Error("an argument is empty: set the variable that it comes from");
			return [parsed.opts(), ...parsed.processedArgs];
		};
		return withErrors(io, () => main({ read, environment, io, extensions }));
	};
}

/** @returns the exit code */
export async function withErrors(io: Io, task: () => Promise<number | undefined>): Promise<number> {
	try {
		return (await task()) ?? exitCodes.done;
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.unable;
		io.warn(messageOf(error as Error));
		return error instanceof WrongError ? exitCodes.wrong : exitCodes.unable;
	}
}

const missingFile = /^ENOENT: .*, (?:open|l?stat|scandir) '(.*)'$/;

/** `reason`: for operators only. */
export function messageOf({ message, cause, reason }: Error & { reason?: unknown }): string {
	const [, path] = missingFile.exec(message) ?? [];
	if (path !== undefined) return `${path}: does not exist`;
	if (typeof reason === "string") return `${message} (${reason})`;
	return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

export function withOutput(command: Command, io: Io): Command {
	return command.exitOverride().configureOutput({
		writeOut: (text) => io.print(text.trimEnd()),
		writeErr: (text) => io.warn(text.trimEnd()),
		getOutHelpWidth: () => 100,
		getErrHelpWidth: () => 100,
	});
}

/** commander would report a misspelt option as missing. @throws {Error} if the option is missing */
export function needed<T>(flag: string, value: T | undefined): T {
	if (value === undefined) throw new Error(`${flag}: is needed; --help lists the options`);
	return value;
}

/** @param parse null for a wrong text */
export function parser<T>(parse: (text: string) => T | null, rule: string): (text: string) => T {
	return (text) => {
		const value = parse(text);
		if (value === null) throw new InvalidArgumentError(`It must be ${rule}`);
		return value;
	};
}

export function matching(test: (text: string) => boolean, rule: string): (text: string) => string {
	return parser((text) => (test(text) ? text : null), rule);
}

export const parseCount = parser(
	(text) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null),
	"a whole number from 1.",
);

export const parseUrl = parser((text) => {
	const url = text.replace(/(?<!\/)\/+$/, "");
	return /^https?:\/\//.test(url) && URL.canParse(url) ? url : null;
}, "an http or https address.");

export const parseSenderId = matching(isSenderId, "1 to 64 of A-Z a-z 0-9 . _ -");
