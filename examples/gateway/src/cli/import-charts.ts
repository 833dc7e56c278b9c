import { readFile, stat } from 'node:fs/promises'
import type { ChartRepository } from '../charts/chart-repository.ts'
import { MusicDataError, parseMusicData } from '../charts/music-data.ts'
import { UsageError } from './usage-error.ts'

/** Largest file, in bytes: the whole of the public table has about three million. */
const MAX_FILE_BYTES = 64 * 1_048_576
/** Most faults that are listed one by one. */
const MAX_LISTED = 20

/**
 * Reads a file of music data into the table of charts: all of it, or nothing.
 * @param progress called with each step
 * @throws {UsageError} when the file cannot be read or has faults
 */
export async function importCharts(
  charts: ChartRepository,
  file: string,
  progress: (line: string) => void,
): Promise<string> {
  progress(`reading ${file}`)
  const found = parsed(file, await textOf(file))
  await charts.replace(found, (done) => progress(`${done} of ${found.length} charts`))
  return `${found.length} charts imported\n`
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(file)
    if (size > MAX_FILE_BYTES) throw new UsageError(`${file}: larger than ${MAX_FILE_BYTES} bytes`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

function parsed(file: string, text: string): ReturnType<typeof parseMusicData> {
  try {
    return parseMusicData(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`${file}: not valid JSON`, { cause: error })
    if (!(error instanceof MusicDataError)) throw error
    const listed = error.faults.slice(0, MAX_LISTED).map(({ path, msg }) => `  ${path}: ${msg}`)
    const more = error.faults.length > MAX_LISTED ? [`  and ${error.faults.length - MAX_LISTED} more`] : []
    const lines = [`${file}: nothing was imported, since it has faults:`, ...listed, ...more]
    throw new UsageError(lines.join('\n'), { cause: error })
  }
}
