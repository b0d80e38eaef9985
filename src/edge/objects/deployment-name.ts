/** Name of the one object of a deployment. */
export const DEPLOYMENT = 'deployment'
