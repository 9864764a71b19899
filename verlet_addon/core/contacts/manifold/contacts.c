/* Contacts of rows in the order of their keys, as in contacts.py. */
#include "../../kernels.h"

EXPORT void gather_contacts(const surfaces *all, const rows *found, const integer *order,
                            const integer *keys, integer *particles, real *weights, real *normals,
                            real *gaps, integer *owners, integer *sorted_keys)
{
    integer k = found->capacity;
    for (integer row = 0; row < k; row++) {
        integer at = order[row], first = found->features[k + at], second = found->features[2 * k + at];
        integer kind = found->features[at], split = kind ? 2 : 1;
        for (integer corner = 0; corner < 4; corner++) {
            integer own = corner < split ? corner : corner - split;
            particles[corner * k + row]
                = corner < split ? (kind ? all->edges[own * all->edge_count + first] : first)
                  : kind         ? all->edges[own * all->edge_count + second]
                                 : all->triangles[own * all->triangle_count + second];
            weights[corner * k + row] = found->weights[corner * k + at];
        }
        for (integer axis = 0; axis < 3; axis++)
            normals[axis * k + row] = found->normals[axis * k + at];
        gaps[row] = found->gaps[at];
        owners[row] = all->owners[particles[row]];
        owners[k + row] = all->owners[particles[3 * k + row]];
        sorted_keys[row] = keys[at];
    }
}
