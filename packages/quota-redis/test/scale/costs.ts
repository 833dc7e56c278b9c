/** Processor time, in microseconds. */
export interface Costs {
  /** Of a server for a script call, and for each decision in it. */
  readonly serverCallUs: number
  readonly serverDecisionUs: number
  /** Of the process that asks, the same. */
  readonly nodeCallUs: number
  readonly nodeDecisionUs: number
  /** Of the site's server for a grant, and for each process whose leases it reads. */
  readonly grantUs: number
  readonly grantProcessUs: number
  /** From process to server or back, wire and kernels. */
  readonly networkUs: number
}

/** A measured load: so many decisions shared a script call on average, and it took so long. */
export interface MeasuredCall {
  readonly decisions: number
  readonly serverUs: number
  readonly nodeUs: number
}

/** What a call costs by itself and for each decision, through two measured loads: the lone call and the largest. */
export function lineThrough(calls: readonly MeasuredCall[]): Omit<Costs, 'grantUs' | 'grantProcessUs' | 'networkUs'> {
  const sorted = calls.toSorted((a, b) => a.decisions - b.decisions)
  const [few, many] = [sorted[0], sorted.at(-1)]
  if (few === undefined || many === undefined || many.decisions < 2 * few.decisions) {
    throw new Error('two loads with calls of different sizes are needed')
  }
  const slope = (of: 'serverUs' | 'nodeUs'): number => (many[of] - few[of]) / (many.decisions - few.decisions)
  const [serverDecisionUs, nodeDecisionUs] = [slope('serverUs'), slope('nodeUs')]
  return {
    serverDecisionUs,
    nodeDecisionUs,
    serverCallUs: Math.max(0, few.serverUs - few.decisions * serverDecisionUs),
    nodeCallUs: Math.max(0, few.nodeUs - few.decisions * nodeDecisionUs),
  }
}
