import { EXIT, type ExitCode } from '../cli-error.ts'
import { type Io, type Paint, painted } from '../io.ts'
import { FaultyPolicy, readPolicy } from '../policy-file.ts'
import { plain, several } from '../text.ts'
import type { Finding, Level } from './finding.ts'
import { lint } from './lint.ts'

export interface CheckOptions {
  readonly json?: boolean
  /** Whether warnings count as faults. */
  readonly strict?: boolean
}

/** Reports every fault of a policy, and valid entries that are probably mistakes. */
export async function check(path: string, { json = false, strict = false }: CheckOptions, io: Io): Promise<ExitCode> {
  const findings = await findingsOf(path)
  const count = (level: Level): number => findings.filter((each) => each.level === level).length
  const isWrong = count('fault') > 0 || (strict && count('warning') > 0)
  if (json) {
    io.out(`${JSON.stringify({ file: path, ok: !isWrong, findings }, undefined, 2)}\n`)
    return isWrong ? EXIT.found : EXIT.ok
  }
  for (const finding of findings) io.out(shown(finding, io))
  const counts = (['fault', 'warning', 'note'] as const).map((level) => several(count(level), level))
  const head = isWrong ? painted(io, 'red', 'not fine') : painted(io, 'green', 'fine')
  io.out(`${plain(path, 200)}: ${head} (${counts.join(', ')})\n`)
  return isWrong ? EXIT.found : EXIT.ok
}

async function findingsOf(path: string): Promise<readonly Finding[]> {
  try {
    return await lint(await readPolicy(path))
  } catch (error) {
    if (!(error instanceof FaultyPolicy)) throw error
    return error.faults.map(({ path: at, message }) => ({
      level: 'fault',
      code: 'invalid_policy',
      path: at,
      message,
      mend: 'see https://github.com/scoregw/quota/blob/main/docs/reference/errors.md#invalid_policy',
    }))
  }
}

const PAINTS: Readonly<Record<Level, Paint>> = { fault: 'red', warning: 'yellow', note: 'cyan' }

function shown({ level, path, message, mend }: Finding, io: Io): string {
  const head = painted(io, PAINTS[level], level)
  const at = path === '' ? 'the document' : plain(path, 200)
  // A fault's message already names the allowed values.
  const line = `${head} ${painted(io, 'bold', at)}: ${plain(message, 400)}\n`
  return level === 'fault' ? line : `${line}  ${painted(io, 'dim', mend)}\n`
}
