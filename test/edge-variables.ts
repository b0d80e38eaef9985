/** How the worker under test is configured: invented secrets, which guard nothing. */
export const edgeVariables = {
  JWT_SECRET: 'a secret of the tests, of 32 bytes or more',
  JWT_ISSUER: 'https://issuer.test',
  JWT_AUDIENCE: 'plimsoll',
  JWT_TENANT_CLAIM: 'tenant',
  GUEST_SECRET: 'another secret of the tests, of 32 bytes or more',
  OPERATOR_SECRET: 'a-secret-of-the-operator-of-the-tests',
  ORIGINS: 'https://app.test',
  BUDGET: '16000',
} as const

/** What more turns encryption on. */
export const encryptedEdgeVariables = {
  MEMORY_KEY: 'a-key-of-the-tests-which-has-32-bytes-or-more',
} as const
