//! Two machines, as far as one can be two: network namespaces with a cable between them, which is cut.
