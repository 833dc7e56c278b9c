// Numbers that only get better: house words, refused names, long sentences, "you" in guides, and types of one name. Each has
// its limit in `ratchets.json`. One that is worse fails, with the newest places and what to write instead.
//   node scripts/ratchets.mjs             compares
//   node scripts/ratchets.mjs --lower     also writes the numbers that have become better
// A limit is loosened by hand, with the reason in the commit. `--root FOLDER` checks another folder.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lineOf, sentencesOfDocstrings, sentencesOfPage, wordsIn } from './ratchet-prose.mjs'
import { NAMES, WORDS } from './ratchet-words.mjs'
import { root as project } from './workspace.mjs'

/** A sentence with more words is long. */
const LONG_WORDS = 20
/** How many places a failure shows, at least. */
const SHOWN = 5
const TEXTS = /\.(?:ts|tsx|vue|mjs|lua|md)$/
/** The words are written here, and past releases keep theirs. */
const LEFT_OUT = /^scripts\/(?:test\/)?ratchet|CHANGELOG\.md$|(?:^|\/)(?:generated|node_modules|dist)\//
const SOURCE = /^packages\/[^/]+\/src\/.*\.(?:ts|lua)$/
const GUIDE = /^docs\/guide\/.*\.md$/

/**
 * One number and where it comes from. `worst` numbers may not rise, `best` ones not fall.
 *
 * @typedef {{ readonly value: number, readonly places: readonly Place[], readonly instead: string, readonly isBest?: boolean }} Measure
 * @typedef {{ readonly file: string, readonly line: number, readonly text: string }} Place
 */

const args = process.argv.slice(2)
const at = args.indexOf('--root')
const root = at < 0 ? project : resolve(args[at + 1])
const LIMITS = join(root, 'scripts/ratchets.json')

const texts = filesOf(root).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
const measures = {
  words: mapped(WORDS, (counted) => countIn(texts, counted)),
  names: mapped(NAMES, (counted) =>
    countIn(
      texts.filter(({ file }) => SOURCE.test(file)),
      counted,
    ),
  ),
  'long sentences, percent': longSentences(),
  'you per 1,000 words': { 'docs/guide': youInGuides() },
  'exported types of one name': typesOfOneName(),
}
const limits = existsSync(LIMITS) ? JSON.parse(readFileSync(LIMITS, 'utf8')) : {}
if (args.includes('--lower')) lower()
const all = Object.entries(measures).flatMap(([group, members]) =>
  Object.entries(members).map(([name, measure]) => ({ group, name, measure, limit: limits[group]?.[name] })),
)
for (const each of all) check(each)
for (const name of noLongerMeasured()) fail(`${name}: is in ratchets.json, but no longer measured: remove it`)
const better = all.filter(({ measure, limit }) => limit !== undefined && measure.value !== limit).length
if (process.exitCode !== 1) {
  console.log(
    `${all.length} ratchets, ${better} of them better than their limit${better > 0 ? ': --lower keeps that' : ''}`,
  )
}

function check({ group, name, measure, limit }) {
  if (limit === undefined) fail(`${group}: ${name}: no limit; --lower writes ${measure.value}`)
  else if (isWorse(measure, limit)) fail(complaint(`${group}: ${name}`, measure, limit))
}

function noLongerMeasured() {
  return Object.entries(limits).flatMap(([group, members]) =>
    Object.keys(members)
      .filter((name) => measures[group]?.[name] === undefined)
      .map((name) => `${group}: ${name}`),
  )
}

function isWorse({ value, isBest }, limit) {
  return isBest ? value < limit : value > limit
}

/** The newest places first: among them is what made the number worse. */
function complaint(name, { value, places, instead, isBest }, limit) {
  const newest = newestFirst(places).slice(0, Math.max(SHOWN, Math.ceil(value - limit)))
  const lines = newest.map(({ file, line, text }) => `  ${file}:${line}: ${text.slice(0, 120)}`)
  return [`${name}: ${value}, ${isBest ? 'at least' : 'at most'} ${limit}. Write: ${instead}`, ...lines].join('\n')
}

function fail(message) {
  console.error(message)
  process.exitCode = 1
}

function lower() {
  for (const [group, members] of Object.entries(measures)) {
    limits[group] = mapped(members, (measure, name) => {
      const limit = limits[group]?.[name] ?? measure.value
      return isWorse(measure, limit) ? limit : measure.value
    })
  }
  writeFileSync(LIMITS, `${JSON.stringify(limits, null, 2)}\n`)
}

// --- measures -----------------------------------------------------------------------------------------------------

function countIn(files, { pattern, instead }) {
  const places = files.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => {
      // The last of its lines: a docstring's words may follow its beginning.
      const line = lineOf(text, index + match.length - 1)
      return { file, line, text: text.split('\n', line).at(-1).trim() }
    }),
  )
  return { value: places.length, places, instead }
}

/** The share of long sentences in each folder of pages, and in the docstrings of each package. */
function longSentences() {
  const folders = {}
  for (const { file, text } of texts) {
    const folder = /^(?:docs\/(?:guide|gateway|reference|decisions)|packages\/[^/]+\/src)(?=\/)/.exec(file)?.[0]
    const isPage = file.endsWith('.md')
    if (folder === undefined || !(isPage || SOURCE.test(file))) continue
    const found = isPage ? sentencesOfPage(file, text) : sentencesOfDocstrings(file, text)
    folders[folder] = [...(folders[folder] ?? []), ...found]
  }
  return mapped(folders, (sentences) => {
    const places = sentences.filter(({ text }) => wordsIn(text).length > LONG_WORDS)
    const value = rounded((100 * places.length) / Math.max(1, sentences.length))
    return { value, places, instead: `sentences of at most ${LONG_WORDS} words` }
  })
}

/** How often guides address the reader. */
function youInGuides() {
  const guides = texts.filter(({ file }) => GUIDE.test(file))
  const words = guides.flatMap(({ file, text }) => sentencesOfPage(file, text)).flatMap(({ text }) => wordsIn(text))
  const you = words.filter((word) => /^\W*(?:you|your|yours|yourself|you['’]\w+)\W*$/i.test(word)).length
  const value = rounded((1_000 * you) / Math.max(1, words.length))
  return { value, places: [], instead: 'to the reader: "you", and verbs', isBest: true }
}

/** Types of one name in two files of a package. An alias of a type by its own name, `type A = module.A`, is that type. */
function typesOfOneName() {
  const packages = {}
  for (const { file, text } of texts) {
    const name = /^packages\/[^/]+(?=\/src\/.*\.ts$)/.exec(file)?.[0]
    if (name === undefined) continue
    packages[name] ??= new Map()
    for (const { index, groups } of text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (?<type>\w+)\b(?!(?:(?!^export)[\s\S]){0,300}?= \w+\.\k<type>\b)/gm,
    )) {
      const { type } = groups
      packages[name].set(type, [...(packages[name].get(type) ?? []), { file, line: lineOf(text, index), text: type }])
    }
  }
  return mapped(packages, (types) => {
    const shared = [...types.values()].filter((places) => new Set(places.map(({ file }) => file)).size > 1)
    return { value: shared.length, places: shared.flat(), instead: 'a name that says what differs' }
  })
}

// --- files --------------------------------------------------------------------------------------------------------

function filesOf(folder) {
  return listed(folder)
    .filter((file) => TEXTS.test(file) && !LEFT_OUT.test(file))
    .sort()
}

/** All files where there is no git. */
function listed(folder) {
  const tracked = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  if (tracked !== undefined) return tracked.split('\0').filter((file) => existsSync(join(folder, file)))
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}

function newestFirst(places) {
  const times = new Map([...new Set(places.map(({ file }) => file))].map((file) => [file, lineTimes(file)]))
  const timeOf = ({ file, line }) => times.get(file)?.[line - 1] ?? Number.POSITIVE_INFINITY
  return [...places].sort((a, b) => timeOf(b) - timeOf(a))
}

/** When each line was written, in seconds; nothing for a file that is not committed. */
function lineTimes(file) {
  const blame = git(['blame', '--line-porcelain', '--', file]) ?? ''
  return [...blame.matchAll(/^committer-time (?<time>\d+)$/gm)].map(({ groups }) => Number(groups.time))
}

function git(words) {
  try {
    const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] }
    return execFileSync('git', words, options)
  } catch {
    return undefined
  }
}

function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, change(member, name)]))
}

function rounded(number) {
  return Math.round(number * 10) / 10
}
