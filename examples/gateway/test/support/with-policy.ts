import { gatewayPolicyOf, type LayerLine, type WindowLine } from '../../src/quota/policy.ts'
import { runGateway } from '../../src/run.ts'

/** What an engineer would write into the policy. */
export interface PolicyLines {
  readonly windows: readonly WindowLine[]
  readonly layers: readonly LayerLine[]
}

const [, , argument] = process.argv

// A program: the gateway as after an edit of its policy, which it is given as JSON. Nothing runs where only types are wanted.
if (argument?.startsWith('{') === true) {
  const { windows, layers } = JSON.parse(argument) as PolicyLines
  await runGateway(gatewayPolicyOf(windows, layers))
}
