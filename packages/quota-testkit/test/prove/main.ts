// Explores every machine, leaves every rule out in turn, and writes the pages of docs/proof. See `--help`.
import { parseArgs } from 'node:util'
import { checkMachine, counterexamples, type Proof, type ProofResult, timelineOf } from '@scoregw/quota-histories'
import { committedProofs, writeProofs } from './pages.ts'
import { PROOFS } from './proofs.ts'

const usage = `usage: npm run prove                  explores all machines, and writes docs/proof
       npm run prove -- --deeper 2    by two actions more
       npm run prove -- --quick       few actions, as in the tests; writes nothing
       npm run prove -- --only NAME   one machine; writes nothing: ${PROOFS.map(({ slug }) => slug).join(', ')}
       npm run prove -- --pages       writes the pages from the committed results`

function prove(proof: Proof, depth: number): ProofResult {
  const began = performance.now()
  const { title, promises, actors, slug } = proof
  console.log(`\n${title}: every history of ${depth} actions`)
  const onProgress = (states: number, length: number): void => {
    process.stderr.write(`\r  ${states.toLocaleString('en-US')} states, histories of ${length} actions `)
  }
  const { states, steps } = checkMachine(proof, depth, { onProgress })
  const seconds = (performance.now() - began) / 1_000
  process.stderr.write('\r')
  const found = counterexamples(proof, Math.max(depth, proof.depths.usual))
  const rules = new Set(found.map(({ rule }) => rule)).size
  const counts = [`${states.toLocaleString('en-US')} states`, `${steps.toLocaleString('en-US')} steps`]
  console.log(`  ${counts.join(', ')}, ${promises.length} promises kept, ${rules} rules, ${seconds.toFixed(1)} s`)
  for (const { rule, fault, promise, history } of found) {
    console.log(`\n  without "${rule}": ${fault}`)
    for (const line of timelineOf(history, promise, actors)) console.log(`    ${line}`)
  }
  return { slug, depth, states, steps, seconds: Math.round(seconds), counterexamples: found }
}

function main(): void {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      pages: { type: 'boolean', default: false },
      deeper: { type: 'string', default: '0' },
      only: { type: 'string' },
    },
  })
  const deeper = Number(values.deeper)
  const chosen = PROOFS.filter(({ slug }) => values.only === undefined || values.only === slug)
  if (chosen.length === 0 || !Number.isInteger(deeper)) throw new Error(usage)
  if (values.pages) {
    writeProofs(committedProofs())
    return
  }
  const results = chosen.map((proof) => prove(proof, values.quick ? proof.depths.quick : proof.depths.usual + deeper))
  const states = results.reduce((sum, result) => sum + result.states, 0)
  const variants = results.reduce((sum, result) => sum + result.counterexamples.length, 0)
  console.log(`\n${states.toLocaleString('en-US')} states keep every promise; ${variants} variants break one each`)
  if (!values.quick && values.only === undefined) writeProofs(results)
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
