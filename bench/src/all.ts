import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { printTargets } from './print.ts'
import { read } from './results.ts'
import { suites } from './suites.ts'

/**
 * Runs every suite in a separate process, one after the other, writes each report to a folder, and prints for every
 * goal whether it was reached. If a suite fails, the others still run.
 */
export async function runAll(folder: string, quick: boolean): Promise<void> {
  const names = Object.keys(suites)
  const failed: string[] = []
  for (const [index, name] of names.entries()) {
    const startedAt = performance.now()
    console.log(`[${index + 1}/${names.length}] ${name}`)
    if (!(await runSuite(name, folder, quick))) failed.push(name)
    console.log(`        ${Math.round((performance.now() - startedAt) / 1000)} s`)
  }
  for (const name of names.filter((name) => !failed.includes(name))) {
    console.log(`\n${name}`)
    printTargets(read(name, folder)?.targets ?? [])
  }
  if (failed.length > 0) throw new Error(`failed: ${failed.join(', ')}`)
}

async function runSuite(name: string, folder: string, quick: boolean): Promise<boolean> {
  const main = join(import.meta.dirname, 'main.ts')
  const args = [...process.execArgv, main, name, '--json', join(folder, `${name}.json`), ...(quick ? ['--quick'] : [])]
  const [code] = await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  return code === 0
}
