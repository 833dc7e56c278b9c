// Runs `npm start` and `npm test` as a newcomer does on a fresh machine, and checks what they leave running.
//   node scripts/first-run.mjs [start|test|both] [ARGUMENT]...     arguments go to `npm test`
// `npm start` passes if the gateway serves its pages and ends on SIGTERM; `npm test` passes if it exits with 0. Needs Linux,
// and neither of them installed before. Exits with 1 if a command failed, 2 if the arguments are wrong.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from './workspace.mjs'

/** The gateway's ports, by the variable that chooses another. */
const PORTS = { PORT: 8080, SYNC_PORT: 8081, CHARTS_PORT: 8082 }
const PAGES = ['/', '/reference/', '/admin/']
/** Long: the first command installs everything. */
const START_LIMIT_MS = 600_000
const END_LIMIT_MS = 60_000

const [what = 'both', ...args] = process.argv.slice(2)
if (!['start', 'test', 'both'].includes(what)) {
  console.error(`expected start, test or both, got "${what}"`)
  process.exit(2)
}
const before = processes()
const checks = { start: checkStart, test: checkTest }
for (const [name, check] of Object.entries(checks)) {
  if (what !== name && what !== 'both') continue
  const faults = [...(await check()), ...(await leftRunning())]
  for (const fault of faults) console.error(`npm ${name}: ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}

async function checkStart() {
  const env = await freePorts()
  const port = Number(env.PORT ?? PORTS.PORT)
  const began = performance.now()
  const { child, ended } = npm(['start'], env)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  while (!(await isBusy(port))) {
    if (hasEnded()) return [`ended with ${child.exitCode ?? child.signalCode} before it answered`]
    if (performance.now() - began > START_LIMIT_MS) return [`no answer on port ${port}`, ...(await end(child, ended))]
    await wait(500)
  }
  console.log(`npm start: answers after ${Math.round((performance.now() - began) / 1_000)}s`)
  const faults = []
  for (const path of PAGES) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { Accept: 'text/html' } })
    if (!answer.ok) faults.push(`GET ${path}: ${answer.status}`)
    await answer.text()
  }
  return [...faults, ...(await end(child, ended))]
}

/** As Docker and systemd end it. */
async function end(child, ended) {
  child.kill('SIGTERM')
  const isInTime = await Promise.race([ended.then(() => true), wait(END_LIMIT_MS, false, { ref: false })])
  return isInTime ? [] : [`SIGTERM did not end it within ${END_LIMIT_MS / 1_000}s`]
}

async function checkTest() {
  const began = performance.now()
  const { child, ended } = npm(['test', ...(args.length > 0 ? ['--', ...args] : [])])
  await ended
  console.log(`npm test: ${Math.round((performance.now() - began) / 1_000)}s`)
  return child.exitCode === 0 ? [] : [`ended with ${child.exitCode ?? child.signalCode}`]
}

function npm(words, env = {}) {
  console.log(`npm ${words.join(' ')}`)
  const child = spawn('npm', words, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return { child, ended: new Promise((resolve) => child.once('close', resolve)) }
}

/** Sets other ports if one of the gateway's is busy here. */
async function freePorts() {
  const chosen = {}
  for (const [name, port] of Object.entries(PORTS)) {
    let free = port
    while (await isBusy(free)) free += 100
    if (free !== port) chosen[name] = String(free)
  }
  return chosen
}

function isBusy(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.destroy() && resolve(true))
    socket.once('error', () => resolve(false))
  })
}

/** The processes of this system that run, by id. */
function processes() {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return new Map(ids.flatMap((id) => commandOf(id)))
}

/** Empty for a process that has just ended, and for a zombie. */
function commandOf(id) {
  try {
    const command = readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return command === '' ? [] : [[id, command]]
  } catch {
    return []
  }
}

/** Processes that a command left running. They get ten seconds to end by themselves. */
async function leftRunning() {
  const isNew = ([id]) => !before.has(id)
  for (let tries = 0; tries < 20; tries++) {
    if (![...processes()].some(isNew)) return []
    await wait(500)
  }
  return [...processes()].filter(isNew).map(([, command]) => `still running: ${command.slice(0, 120)}`)
}
