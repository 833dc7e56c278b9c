// What the other scripts share: the workspace's folders and running a command with its output held back until it fails.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

/** The folders of all workspace packages, relative to the root; an image of the gateway has only some of them. */
export const folders = [
  ...['packages', 'examples', 'internal']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`)),
  'bench',
  'docs',
].filter((folder) => existsSync(join(root, folder, 'package.json')))

export const manifestOf = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** Packages that are published. */
export const published = folders.filter((folder) => manifestOf(folder).private !== true)

/** Runs a command from `cwd` with the repository's binaries on PATH; resolves to its exit code and output. */
export function run(command, args, cwd = root) {
  const path = `${join(root, 'node_modules', '.bin')}:${process.env.PATH}`
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, PATH: path }, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
