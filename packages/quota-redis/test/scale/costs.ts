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
